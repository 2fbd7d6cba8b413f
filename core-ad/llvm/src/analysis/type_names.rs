//! The members of C++ types by their names, as demangled names of functions spell them: numbers, pointers, `std::pair`, `std::array`,
//! `std::complex`, and libstdc++'s `std::tuple` and `std::bind`.
//!
//! clang says of what it copies what the members are, but not of classes with bases. `std::pair` has one, and the functions of
//! containers copy pairs through pointers, whose LLVM types say nothing.

/// What a scalar member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Double,
    Float,
    Integer,
    Pointer,
}

impl Kind {
    /// Each of them.
    pub const ALL: [Kind; 4] = [Kind::Double, Kind::Float, Kind::Integer, Kind::Pointer];

    /// The type's name for TBAA.
    pub fn tbaa(self) -> &'static str {
        match self {
            Kind::Double => "double",
            Kind::Float => "float",
            Kind::Integer => "long",
            Kind::Pointer => "any pointer",
        }
    }
}

/// A scalar member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub offset: u64,
    pub size: u64,
    pub kind: Kind,
}

/// A type: its size, its alignment, its members.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Layout {
    size: u64,
    align: u64,
    members: Vec<Member>,
}

/// Members of one type at most.
const MOST: u64 = 64;

/// The members of the only type of this size that a function has pointers or references to among its parameters, or none.
pub fn pointed_to(symbol: &str, size: u64) -> Option<Vec<Member>> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let name = core_ad::names::demangle(symbol);
    let fitting = parameters(&name).filter_map(|p| layout(p.trim_end_matches(['*', '&', ' '])));
    let mut found = fitting.filter(|l| l.size == size && l.members.len() > 1).map(|l| l.members);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// The parameters in a demangled name, without those of template arguments.
fn parameters(name: &str) -> impl Iterator<Item = &str> {
    let closing = name.rfind(')').unwrap_or(0);
    let mut depth = 0;
    let opening = name[..closing].char_indices().rev().find(|(_, c)| {
        match c {
            '>' | ')' => depth += 1,
            '<' => depth -= 1,
            '(' if depth > 0 => depth -= 1,
            '(' => return true,
            _ => {}
        }
        false
    });
    split(opening.map_or("", |(at, _)| &name[at + 1..closing])).into_iter().filter(|p| p.ends_with(['*', '&']))
}

/// What commas separate, outside of brackets.
fn split(list: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut all) = (0, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '<' | '(' => depth += 1,
            '>' | ')' => depth -= 1,
            ',' if depth == 0 => {
                all.push(list[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(list[begin..].trim());
    all
}

fn layout(name: &str) -> Option<Layout> {
    let name = name.trim().trim_start_matches("const ").trim_end_matches(" const").trim();
    if name.ends_with('*') {
        return Some(scalar(8, Kind::Pointer));
    }
    match name {
        "double" => return Some(scalar(8, Kind::Double)),
        "float" => return Some(scalar(4, Kind::Float)),
        "int" | "unsigned int" => return Some(scalar(4, Kind::Integer)),
        "long" | "unsigned long" | "long long" | "unsigned long long" => return Some(scalar(8, Kind::Integer)),
        "short" | "unsigned short" => return Some(scalar(2, Kind::Integer)),
        "bool" | "char" | "signed char" | "unsigned char" => return Some(scalar(1, Kind::Integer)),
        _ => {}
    }
    let (template, arguments) = name.strip_suffix('>')?.split_once('<')?;
    let arguments = split(arguments);
    match (template, arguments.as_slice()) {
        ("std::pair", [first, second]) => row(&[layout(first)?, layout(second)?]),
        ("std::complex", [number]) => row(&[layout(number)?, layout(number)?]),
        ("std::array", [element, count]) => {
            // Demanglers have two spellings of the constant.
            let count = count.trim_start_matches("(unsigned long)").trim_end_matches("ul");
            let count: u64 = count.parse().ok().filter(|n| (1..=MOST).contains(n))?;
            row(&vec![layout(element)?; usize::try_from(count).ok()?])
        }
        ("std::tuple", elements) => tuple(elements),
        ("std::reference_wrapper", [_]) => Some(scalar(8, Kind::Pointer)),
        ("std::_Bind", _) => bound(name),
        _ => None,
    }
}

/// libstdc++'s tuple: the last element comes first, and what is empty takes no room. Of scalars only, which leave no gaps of their own.
fn tuple(elements: &[&str]) -> Option<Layout> {
    let has_room = |name: &&&str| !name.starts_with("std::_Placeholder<");
    let layouts: Option<Vec<Layout>> = elements.iter().rev().filter(has_room).map(|name| layout(name)).collect();
    layouts.filter(|all| all.iter().all(|one| one.members.len() == 1)).and_then(|all| row(&all))
}

/// What `std::bind` returns: `std::_Bind<double (*(int, std::_Placeholder<1>))(int, double)>` has a pointer to a function, and a tuple of what is
/// bound; `double (Gain::*(Gain*, std::_Placeholder<1>))(double)` one to a member, which is an address and a number.
fn bound(name: &str) -> Option<Layout> {
    let (before, after) = name.split_once("*(")?;
    let mut depth = 0;
    let closing = after.find(|c| {
        depth += match c {
            '(' | '<' => 1,
            ')' | '>' => -1,
            _ => 0,
        };
        depth < 0
    })?;
    let mut parts = vec![scalar(8, Kind::Pointer)];
    if before.ends_with("::") {
        parts.push(scalar(8, Kind::Integer));
    }
    parts.push(tuple(&split(&after[..closing]))?);
    row(&parts)
}

fn scalar(size: u64, kind: Kind) -> Layout {
    Layout { size, align: size, members: vec![Member { offset: 0, size, kind }] }
}

/// One type behind the other, each at its alignment.
fn row(types: &[Layout]) -> Option<Layout> {
    let (mut size, mut align, mut members) = (0_u64, 1, Vec::new());
    for ty in types {
        size = size.next_multiple_of(ty.align);
        members.extend(ty.members.iter().map(|m| Member { offset: m.offset + size, ..*m }));
        size += ty.size;
        align = align.max(ty.align);
    }
    (members.len() as u64 <= MOST).then(|| Layout { size: size.next_multiple_of(align), align, members })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(name: &str) -> Vec<(u64, u64, Kind)> {
        layout(name).map_or_else(Vec::new, |l| l.members.iter().map(|m| (m.offset, m.size, m.kind)).collect())
    }

    #[test]
    fn pairs_and_arrays_have_their_members_at_their_offsets() {
        assert_eq!(kinds("std::pair<double, int>"), [(0, 8, Kind::Double), (8, 4, Kind::Integer)]);
        assert_eq!(layout("std::pair<double, int>").map(|l| l.size), Some(16));
        assert_eq!(
            kinds("std::pair<int const, std::pair<float, Node*> >"),
            [(0, 4, Kind::Integer), (8, 4, Kind::Float), (16, 8, Kind::Pointer)]
        );
        assert_eq!(kinds("std::array<double, 2ul>"), [(0, 8, Kind::Double), (8, 8, Kind::Double)]);
        assert_eq!(kinds("std::array<double, (unsigned long)2>"), kinds("std::array<double, 2ul>"));
        assert_eq!(kinds("std::tuple<int, double>"), [(0, 8, Kind::Double), (8, 4, Kind::Integer)]);
        assert_eq!(layout("std::tuple<double, Unknown>"), None);
        assert_eq!(layout("std::pair<double, Unknown>"), None);
    }

    #[test]
    fn a_function_of_a_container_names_the_elements_that_it_copies() {
        let symbol =
            "_ZNSt15__new_allocatorISt13_Rb_tree_nodeISt4pairIKSt5arrayIiLm2EEdEEE9constructIS5_JRKS5_EEEvPT_DpOT0_";
        let found = pointed_to(symbol, 16).unwrap_or_default();
        let kinds: Vec<_> = found.iter().map(|m| (m.offset, m.kind)).collect();
        assert_eq!(kinds, [(0, Kind::Integer), (4, Kind::Integer), (8, Kind::Double)]);
    }

    #[test]
    fn bound_arguments_come_last_first_behind_the_function() {
        assert_eq!(
            kinds("std::_Bind<double (*(double, int, std::_Placeholder<1>))(double, int, double)>"),
            [(0, 8, Kind::Pointer), (8, 4, Kind::Integer), (16, 8, Kind::Double)]
        );
        assert_eq!(
            kinds("std::_Bind<double (Gain::*(Gain*, std::_Placeholder<1>))(double) const>"),
            [(0, 8, Kind::Pointer), (8, 8, Kind::Integer), (16, 8, Kind::Pointer)]
        );
        assert_eq!(
            kinds(
                "std::_Bind<double (Gain::*(std::reference_wrapper<Gain const>, std::_Placeholder<1>))(double) const>"
            ),
            [(0, 8, Kind::Pointer), (8, 8, Kind::Integer), (16, 8, Kind::Pointer)]
        );
    }

    #[test]
    fn parameters_are_those_of_the_function_itself() {
        let name =
            "void ns::construct<std::pair<double, int>, A>(std::pair<double, int>*, std::pair<double, int>&&, long)";
        let found: Vec<&str> = parameters(name).collect();
        assert_eq!(found, ["std::pair<double, int>*", "std::pair<double, int>&&"]);
        assert_eq!(parameters("f").count(), 0);
    }
}
