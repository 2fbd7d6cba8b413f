"""The site: MyST pages of this folder, the documents at the repository's root, and the API from the package's docstrings.

`make docs` builds it. Nothing of the package is imported and no example runs, so it needs neither a compiler nor a framework. The
extensions in `_ext/` resolve links to files of the repository, and make the pages of errors and of the gallery.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path.insert(0, str(DOCS / "_ext"))

project = "ffgrad"
author = "the authors of ffgrad"
copyright = author  # noqa: A001  (Sphinx calls it so)
found = re.search(r'^version = "([^"]+)"', (DOCS.parent / "Cargo.toml").read_text(), re.MULTILINE)
version = release = found[1] if found else ""

extensions = [
    "myst_parser",
    "autoapi.extension",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_design",
    "repository",
    "errors",
    "gallery",
    "signatures",
]
exclude_patterns = ["_ext", "_static"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# The API is read, not imported.
autoapi_dirs = [str(DOCS.parent / "py/python/ffgrad")]
autoapi_generate_api_docs = False
autoapi_options = ["members", "inherited-members"]
autoapi_keep_files = False
autoapi_python_class_content = "class"
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80
python_display_short_literal_types = True
suppress_warnings = [
    # Each front end has an `Enzyme`; the name alone is resolved to one of them.
    "ref.python",
    # ffgrad.torch and ffgrad._torch.module import each other.
    "autoapi.python_import_resolution",
]

html_theme = "furo"
html_title = "ffgrad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "light_logo": "mark.svg",
    "dark_logo": "mark.svg",
    "light_css_variables": {
        "color-brand-primary": "#1f5fa8",
        "color-brand-content": "#1f5fa8",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif",
    },
    "dark_css_variables": {"color-brand-primary": "#7db6f0", "color-brand-content": "#7db6f0"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_prompt_text = r">>> |\$ "
copybutton_prompt_is_regexp = True
