//! Remedies for well-known functions that have neither a body nor a derivative.

use super::Diagnosis;
use super::messages::Message;
use crate::names;

/// Functions of the system that are often met, and what takes their place.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &[
            "fread",
            "fscanf",
            "__isoc99_fscanf",
            "__isoc23_fscanf",
            "scanf",
            "sscanf",
            "__isoc99_sscanf",
            "__isoc23_sscanf",
            "fgets",
            "getc",
            "read",
            "mmap",
        ],
        "What is read from a file or a text has no derivative: read it before, and pass the numbers as a parameter.",
    ),
    (
        &["strtod", "strtof", "strtold", "atof"],
        "A number that is read from a text has no derivative: pass numbers as they are.",
    ),
    (
        &["qsort", "qsort_r"],
        "Sort with a loop of your own or std::sort, whose source is there, or register a derivative (tests/cases/rules/rule_sort.c is one).",
    ),
    (
        &["_setjmp", "setjmp", "__sigsetjmp", "longjmp"],
        "Return early instead of jumping: setjmp and longjmp have no derivative.",
    ),
];

/// The remedy for a well-known function, by its symbol.
pub(super) fn remedy(callee: &str) -> Option<&'static str> {
    let name = names::in_source(callee);
    KNOWN.iter().find(|(names, _)| names.contains(&callee) || names.contains(&name)).map(|(_, remedy)| *remedy)
}

/// Code of the refusal of threads that are not OpenMP's.
pub const THREADS: &str = "threads";

/// Whether a function of the system's starts threads, ends them or waits for them: all that `std::thread`, `std::async` and
/// `std::jthread` come to.
fn is_of_threads(name: &str) -> bool {
    let of_c = ["pthread_create", "pthread_join", "pthread_detach", "thrd_create", "thrd_join", "thrd_detach"];
    of_c.contains(&name) || ["std::thread::", "std::condition_variable::"].iter().any(|class| name.starts_with(class))
}

/// The refusal of a function that starts threads.
pub fn threads(function: &str, name: String) -> Diagnosis {
    let headline = format!(
        "`{function}` runs threads of its own (`{name}`); of threads only those of OpenMP can be differentiated"
    );
    let mut diagnosis = Diagnosis::new(THREADS, function, headline).advise(
        "Write the loop over the tasks as an OpenMP loop (`ffgrad explain parallel`), or run one task after the other.",
    );
    diagnosis.callee = Some(name);
    diagnosis
}

/// The diagnosis of a function without body and derivative; `message` is what that prevents.
pub(super) fn without_body(function: &str, message: &Message, callee: &str) -> Diagnosis {
    // Our BLAS has a prefix before the names that the user knows.
    let name = names::short(callee.strip_prefix("scipy_").unwrap_or(callee));
    if let Some(routine) = name.strip_prefix("_FortranA") {
        let headline = format!("`{function}` uses {}, which has no derivative", construct(routine));
        return Diagnosis::new("fortran-runtime", function, headline)
            .quote(format!("flang calls its runtime's {name}"))
            .advise("Rewrite it; `ffgrad explain fortran` (\"Limits\") lists what can be differentiated.")
            .advise(format!("Where no derivative flows through it: inactive=[\"{name}\"]."));
    }
    if is_of_threads(&name) {
        return threads(function, name);
    }
    let fill = |text: &str| text.replace("{f}", function).replace("{what}", &name);
    let mut diagnosis = Diagnosis::new(message.code, function, fill(message.meaning));
    let known = KNOWN.iter().find(|(names, _)| names.contains(&name.as_str()));
    match known {
        Some((_, remedy)) => diagnosis.advice.push((*remedy).to_owned()),
        None => diagnosis.advice = message.remedies.iter().map(|text| fill(text)).collect(),
    }
    diagnosis.callee = Some(name);
    diagnosis
}

/// What flang's runtime initialises and destroys, also where all parts are plain numbers.
const WHOLE: &str =
    "a whole value of a derived type (the result of a function, `class`, parts that are allocatable or initialised)";

/// What the user wrote that became a call of flang's runtime.
fn construct(routine: &str) -> String {
    let known = [
        ("PushArrayConstructor", "an array constructor that grows, such as `[b, x]`"),
        ("InitArrayConstructor", "an array constructor that grows, such as `[b, x]`"),
        ("Random", "random numbers"),
        ("io", "input or output beyond `print` and `write`"),
        ("Findloc", "`findloc`"),
        ("Character", "operations on characters"),
        ("Trim", "operations on characters"),
        ("Initialize", WHOLE),
        ("Destroy", WHOLE),
        ("ClassIs", "`select type`"),
        ("System", "the system's clock or command line"),
        ("Date", "the system's clock or command line"),
    ];
    let found = known.iter().find(|(prefix, _)| routine.starts_with(prefix));
    found.map_or_else(|| format!("flang's runtime procedure `{routine}`"), |(_, words)| (*words).to_owned())
}
