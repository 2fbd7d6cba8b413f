//! Finds the declarations of a masked source by its brackets.

use super::mask::{Branch, Masked};
use super::{Item, Kind};

/// What a brace opened.
#[derive(Clone, Copy, Debug)]
enum Scope {
    /// Declarations stand in it as outside.
    Namespace,
    /// `extern "C"`: nothing is another name for what stands in it.
    Linkage,
    /// The class that is this item.
    Class(usize),
    /// The function that is this item.
    Function(usize),
    /// A block, or an initialiser.
    Braces,
}

/// Where the scan is; `#else` goes back to where `#if` was.
#[derive(Clone, Default)]
struct State {
    scopes: Vec<Scope>,
    /// First byte of the declaration, where one has begun.
    start: Option<usize>,
    parentheses: usize,
    /// The declaration's parentheses, with the name before each.
    lists: Vec<(usize, usize)>,
}

pub(super) fn items(masked: &Masked) -> Vec<Item> {
    let mut scan = Scan { text: &masked.text, state: State::default(), items: Vec::new() };
    let (mut kept, mut branches) = (Vec::new(), masked.branches.iter().peekable());
    for at in 0..masked.text.len() {
        while let Some((_, branch)) = branches.next_if(|(place, _)| *place <= at) {
            match branch {
                Branch::If => kept.push(scan.state.clone()),
                Branch::Else => scan.state = kept.last().cloned().unwrap_or_default(),
                Branch::End => drop(kept.pop()),
            }
        }
        scan.byte(at);
    }
    scan.items.retain(|item| item.range.end > item.range.start);
    scan.items
}

struct Scan<'a> {
    text: &'a [u8],
    state: State,
    items: Vec<Item>,
}

impl Scan<'_> {
    fn byte(&mut self, at: usize) {
        let byte = self.text[at];
        match self.state.scopes.last() {
            Some(Scope::Function(_) | Scope::Braces) => match byte {
                b'{' => self.state.scopes.push(Scope::Braces),
                b'}' => self.close(at),
                _ => {}
            },
            _ if byte.is_ascii_whitespace() => {}
            _ if byte == b'}' && self.state.parentheses == 0 => self.close(at),
            _ => {
                self.state.start.get_or_insert(at);
                self.declaration(at, byte);
            }
        }
    }

    fn declaration(&mut self, at: usize, byte: u8) {
        match byte {
            b'(' => {
                if self.state.parentheses == 0 {
                    self.state.lists.push((at, at));
                }
                self.state.parentheses += 1;
            }
            b')' => {
                self.state.parentheses = self.state.parentheses.saturating_sub(1);
                if let (0, Some(list)) = (self.state.parentheses, self.state.lists.last_mut()) {
                    list.1 = at;
                }
            }
            b'{' if self.state.parentheses == 0 => self.open(at),
            b'{' => self.state.scopes.push(Scope::Braces),
            b';' if self.state.parentheses == 0 => self.end(at),
            _ => {}
        }
    }

    fn head(&self, at: usize) -> &str {
        let start = self.state.start.unwrap_or(at);
        std::str::from_utf8(&self.text[start..at]).unwrap_or_default()
    }

    fn open(&mut self, at: usize) {
        let head = self.head(at);
        let words: Vec<&str> = head.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let has = |names: &[&str]| words.iter().any(|word| names.contains(word));
        let is_linkage = head.trim() == "extern";
        let scope = if has(&["namespace"]) || is_linkage {
            self.state.start = None;
            if is_linkage { Scope::Linkage } else { Scope::Namespace }
        } else if let Some((name, body)) = self.function(at) {
            if self.is_member_initialiser(at, body) {
                Scope::Braces
            } else {
                let body = Some(body..body);
                Scope::Function(self.begin(Kind::Function, name, body, at))
            }
        } else if has(&["struct", "class", "union"]) && !assigns(head) {
            let start = self.state.start.unwrap_or(at);
            let body = single_colon(&self.text[start..at]).map_or(at, |colon| start + colon);
            Scope::Class(self.begin(Kind::Class, String::new(), Some(body..body), at))
        } else {
            Scope::Braces
        };
        if !matches!(scope, Scope::Braces) {
            (self.state.lists, self.state.parentheses) = (Vec::new(), 0);
        }
        self.state.scopes.push(scope);
    }

    /// The name and the beginning of the body, where the declaration that a brace follows is a function.
    fn function(&self, at: usize) -> Option<(String, usize)> {
        let start = self.state.start?;
        let (open, close, name) = self.state.lists.iter().find_map(|&(open, close)| {
            let mut name = word_before(&self.text[start..open]);
            // `operator()(int i)` has two lists, the second of which is the parameters.
            let is_operator = contains_word(&self.text[start..open], "operator");
            if is_operator && name == "operator" && self.text[open + 1..close].iter().all(u8::is_ascii_whitespace) {
                return None;
            }
            if is_operator {
                "operator".clone_into(&mut name);
            }
            let is_attribute =
                ["__launch_bounds__", "__attribute__", "__align__", "alignas", "decltype", "noexcept", "__declspec"];
            (!name.is_empty() && !is_attribute.contains(&name.as_str())).then_some((open, close, name))
        })?;
        if assigns(std::str::from_utf8(&self.text[start..open]).unwrap_or_default()) {
            return None;
        }
        let after = &self.text[close + 1..at];
        let body = single_colon(after).map_or(at, |i| close + 1 + i);
        let between = String::from_utf8_lossy(&self.text[close + 1..body]).into_owned();
        let follows = |word: &str| word.is_empty() || ["const", "noexcept", "override", "final"].contains(&word);
        let is_plain =
            between.split_whitespace().all(follows) || between.contains("->") || between.contains("noexcept");
        is_plain.then_some((name, body))
    }

    /// Whether a brace initialises a member, `: a{1}`, rather than begins a body.
    fn is_member_initialiser(&self, at: usize, body: usize) -> bool {
        let before = self.text[..at].iter().rposition(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        let is_name = self.text[before].is_ascii_alphanumeric() || b"_>".contains(&self.text[before]);
        body < at && is_name
    }

    fn begin(&mut self, kind: Kind, name: String, body: Option<std::ops::Range<usize>>, at: usize) -> usize {
        let start = self.state.start.unwrap_or(at);
        let class = self.class();
        let head: String = self.head(at).split_whitespace().collect();
        let is_specialization = head.contains("template<>") || (kind == Kind::Class && is_named_with_arguments(&head));
        let is_global = self.state.scopes.iter().all(|scope| matches!(scope, Scope::Linkage));
        // The end is not known yet.
        self.items.push(Item { kind, name, range: start..start, body, class, is_global, is_specialization });
        self.items.len() - 1
    }

    fn class(&self) -> Option<usize> {
        match self.state.scopes.last() {
            Some(Scope::Class(class)) => Some(*class),
            _ => None,
        }
    }

    fn close(&mut self, at: usize) {
        match self.state.scopes.pop() {
            Some(Scope::Function(item)) => {
                let item = &mut self.items[item];
                item.range.end = at + 1;
                if let Some(body) = &mut item.body {
                    body.end = at + 1;
                }
                self.state.start = None;
            }
            // What follows up to the semicolon belongs to it.
            Some(Scope::Class(item)) => {
                let item = &mut self.items[item];
                item.range.end = at + 1;
                self.state.start = Some(item.range.start);
            }
            Some(Scope::Namespace | Scope::Linkage) | None => self.state.start = None,
            Some(Scope::Braces) => {}
        }
        if !matches!(self.state.scopes.last(), Some(Scope::Function(_) | Scope::Braces)) && self.state.start.is_none() {
            (self.state.lists, self.state.parentheses) = (Vec::new(), 0);
        }
    }

    /// A semicolon ends the declaration.
    fn end(&mut self, at: usize) {
        let start = self.state.start.unwrap_or(at);
        match self.items.iter_mut().rev().find(|item| item.kind == Kind::Class && item.range.start == start) {
            Some(class) => {
                class.range.end = at + 1;
                if let Some(body) = &mut class.body {
                    body.end = at;
                }
            }
            None => {
                let other = self.begin(Kind::Other, String::new(), None, at);
                self.items[other].range.end = at + 1;
            }
        }
        self.state.start = None;
        (self.state.lists, self.state.parentheses) = (Vec::new(), 0);
    }
}

/// Whether a head has an assignment: what follows is an initialiser.
fn assigns(head: &str) -> bool {
    let text = head.replace("==", "").replace("!=", "").replace("<=", "").replace(">=", "");
    // A template parameter may have a default.
    let depth = |end: usize| {
        let before = &text[..end];
        before.matches(['<', '(']).count() as i64 - before.matches(['>', ')']).count() as i64
    };
    !text.contains("operator") && text.match_indices('=').any(|(at, _)| depth(at) <= 0)
}

/// `structA<float>`: a class that is named with arguments, after its template parameters.
fn is_named_with_arguments(head: &str) -> bool {
    let class = ["struct", "class", "union"].iter().filter_map(|word| Some(head.rfind(word)? + word.len())).max();
    class.is_some_and(|at| head[at..].split(':').next().unwrap_or_default().contains('<'))
}

/// A colon that is no part of `::`.
fn single_colon(text: &[u8]) -> Option<usize> {
    let is_colon = |i: usize| text.get(i) == Some(&b':');
    (0..text.len()).find(|&i| is_colon(i) && !is_colon(i + 1) && (i == 0 || !is_colon(i - 1)))
}

fn contains_word(text: &[u8], word: &str) -> bool {
    let text = String::from_utf8_lossy(text);
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word)
}

fn word_before(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let word: String = text.trim_end().chars().rev().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    word.chars().rev().collect()
}
