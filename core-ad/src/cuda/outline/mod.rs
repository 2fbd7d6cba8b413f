//! The outline of a C++ source: which bytes are which function, class or other declaration, found by brackets alone.
//!
//! It serves to leave out definitions that a compiler refuses: [`without`] makes of a function's definition a declaration, in place, so that
//! every line keeps its number. Nothing that is used can go in silence that way: a function without its body is missing where it is called, a
//! declaration that is gone is unknown where it is named. What that does not hold for is kept.

mod mask;
mod scan;

use mask::{blank, mask};
use std::ops::Range;

/// What a declaration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The definition of a function.
    Function,
    /// The definition of a class, structure, union or enumeration.
    Class,
    /// A variable, an alias, a declaration.
    Other,
}

/// A declaration of a source.
#[derive(Clone, Debug)]
pub struct Item {
    /// What it is.
    pub kind: Kind,
    /// Its name, where it is a function.
    pub name: String,
    /// All of it.
    pub range: Range<usize>,
    /// For a function from its first initialiser or brace to the last brace, for a class from its bases or brace to the semicolon.
    pub body: Option<Range<usize>>,
    /// The class that it is a member of, as an index.
    pub class: Option<usize>,
    /// Whether it stands in no namespace and in no class.
    pub is_global: bool,
    /// Whether it is a specialisation, without which the template would be taken.
    pub is_specialization: bool,
}

/// Something to leave out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The body of the function of this name, or of a class: a declaration stays.
    Body(Range<usize>, String),
    /// A declaration as a whole; the name of the function that it is.
    All(Range<usize>, String),
}

impl Cut {
    /// Its bytes.
    pub const fn range(&self) -> &Range<usize> {
        let (Cut::Body(range, _) | Cut::All(range, _)) = self;
        range
    }

    /// The name of the function; empty for other declarations.
    pub fn name(&self) -> &str {
        let (Cut::Body(_, name) | Cut::All(_, name)) = self;
        name
    }
}

/// The declarations of a source, inner ones behind those around them.
pub fn items(source: &str) -> Vec<Item> {
    scan::items(&mask(source))
}

/// What to leave out so that the byte at `offset` is not compiled; `None` where that may change what something else means.
///
/// `tried` has what was left out already and did not help.
pub fn cut(items: &[Item], offset: usize, tried: &[Cut]) -> Option<Cut> {
    let around = |item: &&Item| item.range.contains(&offset);
    let mut item = items.iter().filter(around).min_by_key(|item| item.range.len())?;
    loop {
        // A class without its members is incomplete, and its name still hides others. Without one of them its layout would change.
        let body = item.body.clone().filter(|body| body.contains(&offset) || item.kind == Kind::Class);
        let cut = body.map(|body| Cut::Body(body, item.name.clone()));
        if let Some(cut) = cut.filter(|cut| !tried.contains(cut)) {
            return Some(cut);
        }
        match item.class {
            Some(class) => item = items.get(class)?,
            None => break,
        }
    }
    let may_go = !item.is_specialization && (item.is_global || item.kind == Kind::Function);
    may_go.then(|| Cut::All(item.range.clone(), item.name.clone()))
}

/// A source without the cuts, with the same lines. Preprocessor lines stay.
pub fn without(source: &str, cuts: &[Cut]) -> String {
    let directives = mask(source).directives;
    let mut text = source.as_bytes().to_vec();
    for cut in cuts {
        let range = cut.range();
        let mut from = range.start;
        for directive in directives.iter().filter(|d| d.start >= range.start && d.end <= range.end) {
            blank(&mut text, from..directive.start);
            from = directive.end;
        }
        blank(&mut text, from..range.end);
        if let Cut::Body(range, _) = cut {
            text[range.start] = b';';
        }
    }
    // Only whole characters were replaced.
    String::from_utf8_lossy(&text).into_owned()
}

/// The byte of a line and column, both from 1.
pub fn offset(source: &str, line: u32, column: u32) -> Option<usize> {
    let start = match line {
        0 => return None,
        1 => 0,
        _ => source.match_indices('\n').nth(line as usize - 2)?.0 + 1,
    };
    let length = source[start..].find('\n').unwrap_or(source.len() - start);
    Some(start + (column.saturating_sub(1) as usize).min(length.saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#include <x>
struct P { float a; void go() { bad(); } };
namespace { __device__ double two(double x) { return 2 * x; } }
template <class T> __global__ void k(T *x, int n = f(1)) {
#define ONE 1
  if (n) { x[0] = two(x[0]); }
}
struct Q { thrust::vector v; };
extern \"C\" {
int main(int argc, char **argv)
{
  cudaDeviceProp prop; // }
#ifdef A
  if (argc) {
#else
  if (!argc) {
#endif
  k<<<1, 2>>>(0);
  }
}
}
A::A(int x) : y(x), z{3} { run(); }
static Timer timer = {1, 2};
extern \"C\" {
void resize(cudaExtent size);
}
namespace inner { Missing thing; }
template <> struct T<float> { bad x; };
float3 operator+(float3 a, float3 b) { return plus(a, b); }
struct F { double operator()(int i) const { return i; } };
";

    fn cut_at(text: &str) -> Option<Cut> {
        cut(&items(SOURCE), SOURCE.find(text).expect(text), &[])
    }

    #[test]
    fn functions_are_found_wherever_they_stand() {
        let found = items(SOURCE);
        let names: Vec<&str> =
            found.iter().filter(|item| item.kind == Kind::Function).map(|item| item.name.as_str()).collect();
        assert_eq!(names, ["go", "two", "k", "main", "A", "operator", "operator"]);
    }

    #[test]
    fn a_definition_becomes_a_declaration_with_the_same_lines() {
        let main = cut_at("cudaDeviceProp").expect("a cut");
        assert_eq!(main.name(), "main");
        let text = without(SOURCE, &[main, cut_at("run()").expect("a cut")]);
        assert_eq!(text.lines().count(), SOURCE.lines().count());
        assert!(text.contains("int main(int argc, char **argv)\n;") && !text.contains("k<<<"), "{text}");
        assert!(text.contains("#ifdef A\n") && text.contains("A::A(int x) ;"), "{text}");
        assert!(text.contains("two(x[0])"));
    }

    #[test]
    fn a_class_becomes_incomplete_and_goes_as_a_whole_where_that_does_not_help() {
        let incomplete = cut_at("v; }").expect("a cut");
        assert!(without(SOURCE, std::slice::from_ref(&incomplete)).contains("struct Q ;"));
        let offset = SOURCE.find("v; }").expect("text");
        let whole = cut(&items(SOURCE), offset, &[incomplete]).expect("a cut");
        assert!(!without(SOURCE, &[whole]).contains("struct Q"));
        let specialization = cut_at("bad x").expect("a cut");
        let text = without(SOURCE, std::slice::from_ref(&specialization));
        assert!(text.contains("template <> struct T<float> ;"), "{text}");
        assert_eq!(cut(&items(SOURCE), SOURCE.find("bad x").expect("text"), &[specialization]), None);
    }

    #[test]
    fn a_declaration_goes_where_no_other_can_be_meant_in_its_place() {
        assert!(matches!(cut_at("cudaExtent"), Some(Cut::All(..))));
        assert_eq!(cut_at("Missing thing"), None);
    }

    #[test]
    fn places_are_bytes() {
        assert_eq!(offset("ab\ncd\n", 2, 2), Some(4));
        assert_eq!(offset("ab", 3, 1), None);
    }
}
