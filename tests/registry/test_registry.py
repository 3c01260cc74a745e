"""Who provides which component, and what happens when a plugin is at fault."""

import importlib
import os
import subprocess
import sys
import warnings
from dataclasses import FrozenInstanceError
from importlib.metadata import EntryPoint, distribution

import pytest

from warpkern.exceptions import (
    ComponentCollisionError,
    InvalidParameterError,
    PluginWarning,
    UnknownComponentError,
)
from warpkern.registry import (
    KINDS,
    CommandSpec,
    FeatureMapSpec,
    GraphBuilderSpec,
    HeadSpec,
    OperatorSpec,
    Registry,
    _manager,
    default_registry,
)

HEADER = "from warpkern.registry import FeatureMapSpec, HeadSpec, hookimpl\n"

GOOD = """
@hookimpl
def warpkern_heads():
    yield HeadSpec("{name}", "warpkern.heads:KRR")
"""

FAULTS = {
    "fails at import": ("raise RuntimeError('no licence')", "RuntimeError: no licence"),
    "imports what is missing": ("import not_a_module", "No module named 'not_a_module'"),
    "hook raises": (
        """
@hookimpl
def warpkern_heads():
    yield HeadSpec("late", "warpkern.heads:KRR")
    raise RuntimeError("no licence")
""",
        "RuntimeError: no licence",
    ),
    "hook yields another kind of spec": (
        """
@hookimpl
def warpkern_heads():
    yield FeatureMapSpec("late", "warpkern.features:RBF")
""",
        "warpkern_heads must yield HeadSpec, got FeatureMapSpec",
    ),
    "hook returns no list": (
        """
@hookimpl
def warpkern_heads():
    return HeadSpec("late", "warpkern.heads:KRR")
""",
        "TypeError",
    ),
    "hook yields a bad spec": (
        """
@hookimpl
def warpkern_heads():
    yield HeadSpec("Not A Name", "warpkern.heads:KRR")
""",
        "lower-case words joined by '-'. Got 'Not A Name'",
    ),
    "hook has an unknown name": (
        """
@hookimpl
def warpkern_headz():
    yield HeadSpec("late", "warpkern.heads:KRR")
""",
        "unknown hook 'warpkern_headz'",
    ),
    "hook takes arguments": (
        """
@hookimpl
def warpkern_heads(X):
    yield HeadSpec("late", "warpkern.heads:KRR")
""",
        "PluginValidationError",
    ),
}

# Hooks are collected in the order of KINDS: this one has been when that of the heads fails.
EARLY_HOOK = """
@hookimpl
def warpkern_feature_maps():
    yield FeatureMapSpec("early", "warpkern.features:RBF")
"""


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """A function that writes a plugin's module and returns its provider and entry point."""
    monkeypatch.syspath_prepend(tmp_path)
    written = []

    def write(provider, source):
        module = f"{provider.replace('-', '_')}_plugin"
        (tmp_path / f"{module}.py").write_text(HEADER + source, "utf-8")
        importlib.invalidate_caches()
        written.append(module)
        return provider, EntryPoint("any", module, "warpkern")

    yield write
    for module in written:
        sys.modules.pop(module, None)


@pytest.fixture
def quiet():
    """No warning may be given."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def loaded(*entry_points):
    registry = Registry()
    registry.load_entry_points(entry_points)
    return registry


def everything(registry):
    return {(kind, e.spec.name, e.provider) for kind in KINDS for e in registry.entries(kind)}


def test_the_entry_point_of_warpkern_brings_all_built_ins():
    mine = [e for e in distribution("warpkern").entry_points if e.group == "warpkern"]
    found = everything(loaded(*(("warpkern", e) for e in mine)))
    assert found == {item for item in everything(default_registry()) if item[2] == "warpkern"}
    assert {kind for kind, _, _ in found} == set(KINDS)
    assert {("feature_map", "rbf", "warpkern"), ("head", "krr", "warpkern")} <= found


def test_without_entry_points_there_is_nothing(monkeypatch):
    monkeypatch.setattr(_manager, "distributions", lambda: [])
    assert everything(default_registry.__wrapped__()) == set()


def test_the_default_registry_is_made_once():
    assert default_registry() is default_registry()


def test_a_named_factory_is_imported_when_it_is_loaded(plugin, tmp_path, capsys):
    (tmp_path / "heavy_component.py").write_text("print('imported')\nclass Head: pass\n", "utf-8")
    source = GOOD.replace("warpkern.heads:KRR", "heavy_component:Head").format(name="heavy")
    registry = loaded(plugin("heavy", source))
    assert registry.names("head") == ["heavy"]
    spec = registry.get("head", "heavy")
    assert capsys.readouterr().out == ""
    assert spec.load().__name__ == "Head"
    assert capsys.readouterr().out == "imported\n"
    del sys.modules["heavy_component"]


def test_create_passes_parameters_on():
    assert default_registry().create("head", "krr", reg=0.5).reg == 0.5
    with pytest.raises(InvalidParameterError, match=r"head 'krr': .*'ridge'"):
        default_registry().create("head", "krr", ridge=0.5)


@pytest.mark.parametrize(
    "spec", [FeatureMapSpec, GraphBuilderSpec, OperatorSpec, HeadSpec, CommandSpec]
)
def test_specs_are_frozen(spec):
    made = spec("mine", "my_package:Mine")
    for field in ("name", "factory", "summary", "backends", "reference"):
        with pytest.raises(FrozenInstanceError):
            setattr(made, field, "other")
    assert made == spec("mine", "my_package:Mine", "", ("any",), "")


@pytest.mark.parametrize("name", ["Mine", "my_head", "-mine", "mine-", "my head", "", 3])
def test_a_bad_name_is_refused(name):
    with pytest.raises(InvalidParameterError) as error:
        HeadSpec(name, "my_package:Mine")
    assert str(error.value) == (
        f"The 'name' parameter of HeadSpec {name!r} must be lower-case words joined by '-'. "
        f"Got {name!r} instead."
    )


@pytest.mark.parametrize("factory", ["my_package", "my_package:", ":Mine", "a:b:c", 3, None])
def test_a_bad_factory_is_refused(factory):
    with pytest.raises(InvalidParameterError) as error:
        HeadSpec("mine", factory)
    assert str(error.value) == (
        "The 'factory' parameter of HeadSpec 'mine' must be a callable or text like "
        f"'module:attribute'. Got {factory!r} instead."
    )


@pytest.mark.parametrize("backends", ["numpy", (), None, 5, ["numpy"], (1,)])
def test_bad_backends_are_refused(backends):
    with pytest.raises(InvalidParameterError) as error:
        HeadSpec("mine", "my_package:Mine", backends=backends)
    assert str(error.value) == (
        "The 'backends' parameter of HeadSpec 'mine' must be a tuple of names. "
        f"Got {backends!r} instead."
    )


def test_an_unknown_name_lists_the_choices(plugin):
    registry = loaded(
        plugin("first", GOOD.format(name="one")), plugin("second", GOOD.format(name="two"))
    )
    with pytest.raises(UnknownComponentError) as error:
        registry.get("head", "three")
    assert str(error.value) == "Unknown head 'three'. Choose one of: one, two."
    with pytest.raises(UnknownComponentError, match=r"operator 'three'.*none is registered"):
        registry.get("operator", "three")


def test_a_collision_names_both_distributions_and_leaves_the_rest(plugin, quiet):
    registry = loaded(
        plugin("first-dist", GOOD.format(name="same")),
        plugin("second-dist", GOOD.format(name="same")),
        plugin("third-dist", GOOD.format(name="other")),
    )
    with pytest.raises(ComponentCollisionError, match=r"'same'.*first-dist and second-dist"):
        registry.get("head", "same")
    with pytest.raises(ComponentCollisionError, match=r"'same'.*first-dist and second-dist"):
        registry.create("head", "same")
    assert registry.create("head", "other").reg == "auto"
    assert registry.names("head") == ["other", "same"]
    assert [(e.spec.name, e.provider) for e in registry.entries("head")] == [
        ("other", "third-dist"),
        ("same", "first-dist"),
        ("same", "second-dist"),
    ]


def test_one_name_for_two_kinds_is_no_collision(plugin, quiet):
    source = GOOD + EARLY_HOOK.replace("early", "{name}")
    registry = loaded(plugin("first", source.format(name="same")))
    assert type(registry.get("head", "same")) is HeadSpec
    assert type(registry.get("feature_map", "same")) is FeatureMapSpec


@pytest.mark.parametrize(("fault", "reason"), FAULTS.values(), ids=list(FAULTS))
def test_a_faulty_plugin_is_left_out_whole(plugin, fault, reason):
    faulty = plugin("faulty-dist", EARLY_HOOK + fault)
    before, after = (plugin(name, GOOD.format(name=name)) for name in ("before", "after"))
    with pytest.warns(PluginWarning) as caught:
        registry = loaded(before, faulty, after)
    (warning,) = caught
    assert "'faulty-dist' is left out" in str(warning.message)
    assert reason in str(warning.message)
    assert everything(registry) == {("head", "before", "before"), ("head", "after", "after")}


def test_a_faulty_plugin_can_be_mended(plugin, quiet):
    fault, _ = FAULTS["hook raises"]
    provider, entry_point = plugin("mended", EARLY_HOOK + fault)
    registry = Registry()
    with pytest.warns(PluginWarning, match="mended"):
        registry.load_entry_points([(provider, entry_point)])
    module = sys.modules[entry_point.value]
    del module.warpkern_heads
    registry.register(module, provider)
    assert everything(registry) == {("feature_map", "early", "mended")}


def test_a_plugin_named_twice_counts_once(plugin, quiet):
    entry = plugin("twice", GOOD.format(name="one"))
    registry = loaded(entry, entry, entry)
    assert everything(registry) == {("head", "one", "twice")}


def test_a_distribution_found_twice_counts_once(tmp_path, monkeypatch, quiet):
    for folder in ("first", "second", "third"):
        (tmp_path / folder).mkdir()
        install(tmp_path / folder, "found-twice", GOOD.format(name="one"))
        monkeypatch.syspath_prepend(tmp_path / folder)
    registry = default_registry.__wrapped__()
    assert [e.provider for e in registry.entries("head") if e.spec.name == "one"] == ["found-twice"]
    del sys.modules["found_twice"]


def install(folder, name, source):
    """Lay out a distribution as an installer would: a module and its metadata."""
    module = name.replace("-", "_")
    (folder / f"{module}.py").write_text(HEADER + source, "utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        "entry_points.txt": f"[warpkern]\nmine = {module}\n",
        "RECORD": "".join(f"{path},,\n" for path in (f"{module}.py", f"{info.name}/METADATA")),
    }
    for file, text in files.items():
        (info / file).write_text(text, "utf-8")


@pytest.fixture
def run_with_plugins(tmp_path):
    """A function that runs Python where a working and a broken plugin are installed."""
    source = GOOD.replace("warpkern.heads:KRR", "working_dist:make").format(name="their-name")
    make = "\ndef make():\n    from warpkern.heads import KRR\n    return KRR(reg=0.125)\n"
    install(tmp_path, "working-dist", source + make)
    install(tmp_path, "broken-dist", "raise RuntimeError('no licence')")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONWARNINGS"}

    def run(code):
        return subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            encoding="utf-8",
            cwd=elsewhere,
            env=environment | {"PYTHONPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"},
        )

    return run


def test_an_installed_plugin_is_listed_and_a_broken_one_warned_of(run_with_plugins):
    done = run_with_plugins("from warpkern.cli import main; raise SystemExit(main(['info']))")
    assert done.returncode == 0, done.stderr
    assert [line.split()[-1] for line in done.stdout.splitlines() if "their-name" in line] == [
        "(working-dist)"
    ]
    assert "broken-dist" not in done.stdout
    assert done.stderr.count("PluginWarning: ") == 1
    assert "'broken-dist' is left out" in done.stderr
    assert "RuntimeError: no licence" in done.stderr


def test_an_installed_plugin_serves_the_estimators(run_with_plugins):
    done = run_with_plugins(
        "import warpkern as wk\n"
        "X, y = wk.datasets.make_two_moons(60, n_labeled=10, random_state=0)\n"
        "model = wk.WarpClassifier(head='their-name', random_state=0).fit(X, y)\n"
        "print(model.head_.reg, model.predict(X).shape)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "0.125 (60,)\n"
