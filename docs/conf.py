"""Sphinx configuration. The tables of array libraries are written from their declaration."""

from pathlib import Path

from docutils import nodes

import warpkern
from warpkern.array import FUNCTIONS, LIBRARIES, support_table

project = "warpkern"
author = "the warpkern authors"
project_copyright = f"2026, {author}"
version = release = warpkern.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc"]
exclude_patterns = ["_build", "_generated", "example-plugin"]

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {
    "members": True,
    # scikit-learn's own, described there.
    "exclude-members": "get_metadata_routing, set_fit_request, set_output, set_predict_request, "
    "set_score_request",
}
numpydoc_show_class_members = False

html_theme = "furo"
html_title = f"warpkern {version}"
html_show_sphinx = False


def functions_table() -> str:
    """Return in Markdown whose routine serves each function that the standard lacks."""
    titles = [entry.title for entry in LIBRARIES]
    rows = [f"| function | what | {' | '.join(titles)} |", "|---" * (len(titles) + 2) + "|"]
    for name, what in FUNCTIONS.items():
        cells = ["native" if name in entry.native else "composed" for entry in LIBRARIES]
        rows.append(f"| `{name}` | {what} | {' | '.join(cells)} |")
    return "\n".join(rows)


def write_tables(app) -> None:
    """Write the tables to ``_generated``, where the pages include them."""
    folder = Path(app.srcdir, "_generated")
    folder.mkdir(exist_ok=True)
    for name, table in (("support", support_table()), ("functions", functions_table())):
        file = folder / f"{name}.md"
        text = table + "\n"
        if not file.exists() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def trim_code(_app, doctree) -> None:
    """Drop the blank line that doctest needs between an output and the end of its fence."""
    for block in doctree.findall(nodes.literal_block):
        text = block.astext().rstrip()
        block.rawsource, block.children = text, []
        block += nodes.Text(text)


def bare_protocol(_app, _what, _name, thing, _options, signature, returns):
    """Leave out the signature of a protocol, which is nobody's."""
    return ("", None) if getattr(thing, "_is_protocol", False) else (signature, returns)


def setup(app) -> None:
    """Connect the functions above."""
    app.connect("builder-inited", write_tables)
    app.connect("doctree-read", trim_code)
    app.connect("autodoc-process-signature", bare_protocol)
