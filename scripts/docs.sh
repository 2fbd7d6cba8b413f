#!/usr/bin/env bash
# docs.sh: the site in target/docs: the pages by Sphinx, the crates by rustdoc where there is cargo, then a check of every link inside it.
# Every warning and every broken link is an error.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$ROOT"

SITE=$ROOT/target/docs
PYTHON=.venv-docs/bin/python

# The crates that the programs and the bindings are made of; docs/reference/rust.md describes them.
crates=(core-ad compile-driver ffgrad-capi)

rm -rf "$SITE"
"$PYTHON" -m sphinx --fresh-env --fail-on-warning --keep-going --quiet --doctree-dir target/doctrees docs "$SITE"

mkdir "$SITE/rust"
list="<p>This site was built on a machine without Rust. <code>cargo doc --no-deps --open</code> in a clone makes these pages.</p>"
if command -v cargo >/dev/null 2>&1; then
    rm -rf "$CARGO_TARGET_DIR/doc"
    RUSTDOCFLAGS="--deny warnings --allow rustdoc::private-intra-doc-links" cargo doc --quiet --locked --no-deps --lib "${crates[@]/#/--package=}"
    cp -r "$CARGO_TARGET_DIR/doc/." "$SITE/rust"
    list=$(printf '<li><a href="%s/index.html">%s</a></li>' $(for crate in core_ad compile_driver ffgrad; do echo "$crate $crate"; done))
    list="<ul>$list</ul>"
else
    say "no cargo: the site has no pages of the Rust crates"
fi
printf '<!doctype html><html lang="en"><meta charset="utf-8"><title>ffgrad: Rust crates</title>
<body style="font-family: sans-serif; margin: 2rem"><h1>Rust crates</h1>%s<p><a href="../index.html">ffgrad</a></p></body></html>\n' \
    "$list" >"$SITE/rust/index.html"
"$PYTHON" scripts/check_links.py "$SITE"
echo "the site: target/docs/index.html"
