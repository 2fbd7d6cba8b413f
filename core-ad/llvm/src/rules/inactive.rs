//! Inactive functions: those that the user names, and those of libraries that only read or write text.
//!
//! Enzyme takes their values and what they write for constants, and calls them in the primal only.

use super::refusals::{self, Refusal};
use super::rule::text;
use crate::ir::markers::INACTIVE_BY_NAME;
use crate::ir::{Result, set_string_attribute};
use core_ad::names;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, FunctionValue};

/// Functions of the C library that only put something out, format it, search or copy text, read text from a file or a number from text, return the
/// time, seed random numbers, wait, lock, or set how floating-point operations round and report.
pub const OUTPUT: [&str; 97] = [
    "strcpy",
    "strncpy",
    "strcat",
    "strncat",
    "stpcpy",
    "memchr",
    "strtok",
    "strtok_r",
    "strdup",
    "strndup",
    "strerror",
    "strpbrk",
    "strspn",
    "strcspn",
    "strstr",
    "strchr",
    "strrchr",
    "strcasecmp",
    "strncasecmp",
    "fgets",
    "fgetc",
    "getc",
    "ungetc",
    "fseek",
    "ftell",
    "rewind",
    "feof",
    "ferror",
    "fdopen",
    "tmpfile",
    "mkstemp",
    "remove",
    "rename",
    "nanosleep",
    "pthread_mutex_destroy",
    "pthread_mutex_init",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_unlock",
    "pthread_rwlock_wrlock",
    "sched_yield",
    "usleep",
    "fflush",
    "snprintf",
    "sprintf",
    "vsnprintf",
    "vsprintf",
    "vprintf",
    "vfprintf",
    "fputs",
    "fputc",
    "putc",
    "fwrite",
    "perror",
    "fopen",
    "fclose",
    "time",
    "clock",
    "clock_gettime",
    "gettimeofday",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "strftime",
    "localtime",
    "ctime",
    "getenv",
    "syslog",
    "isatty",
    "strtod",
    "strtof",
    "strtold",
    "atof",
    "strtol",
    "strtoll",
    "strtoul",
    "strtoull",
    "__isoc23_strtol",
    "__isoc23_strtoll",
    "__isoc23_strtoul",
    "__isoc23_strtoull",
    "atoi",
    "srand",
    "srandom",
    "srand48",
    "seed48",
    "fesetround",
    "fegetround",
    "feclearexcept",
    "fetestexcept",
    "feraiseexcept",
    "feholdexcept",
    "feupdateenv",
    "fegetenv",
    "fesetenv",
];

/// Functions of BLAS and LAPACK that return a position, a property of numbers in this machine, or what a letter means.
const ALGEBRA: [&str; 13] = [
    "isamax_",
    "idamax_",
    "icamax_",
    "izamax_",
    "cblas_isamax",
    "cblas_idamax",
    "cblas_icamax",
    "cblas_izamax",
    "slamch_",
    "dlamch_",
    "lsame_",
    "ilaenv_",
    "xerbla_",
];

/// Names that begin so belong to the C++ library's strings, streams, exceptions, clocks, file names, hashes and sizes of tables, or to libraries that format text, keep
/// logs and hold documents, or order the columns of a sparse matrix by its pattern: with a body or without. A number that is kept in a document and read
/// again has no derivative; differences see that.
const TEXT: [&str; 112] = [
    "std::__cxx11::basic_string<char",
    "std::__cxx11::basic_string<wchar_t",
    "std::basic_string<char",
    "std::basic_string<wchar_t",
    "std::__cxx11::to_string",
    "std::__cxx11::to_wstring",
    "std::to_string",
    "std::to_wstring",
    "std::operator+<char",
    "std::__cxx11::basic_regex<",
    "std::__cxx11::regex_",
    "std::__cxx11::match_results<",
    "std::__cxx11::sub_match<",
    "std::__detail::_Executor<",
    "std::__detail::_NFA<",
    "std::__detail::_Compiler<",
    "std::regex_search<",
    "std::regex_match<",
    "std::regex_replace<",
    "std::regex_error::",
    "std::vector<std::__cxx11::sub_match<",
    "std::_Vector_base<std::__cxx11::sub_match<",
    "std::__detail::__regex_algo_search",
    "std::__detail::_Scanner",
    "std::filesystem::",
    "nlohmann::",
    "boost::basic_format<",
    "boost::json::",
    "rapidjson::",
    "cereal::JSON",
    "cereal::XML",
    "boost::program_options::",
    "boost::property_tree::",
    "std::__detail::_Prime_rehash_policy::",
    "std::basic_ios<",
    "std::basic_istream<",
    "std::basic_ostream<",
    "std::basic_iostream<",
    "std::basic_streambuf<",
    "std::basic_filebuf<",
    "std::basic_ifstream<",
    "std::basic_ofstream<",
    "std::basic_fstream<",
    "std::__cxx11::basic_stringbuf<",
    "std::__cxx11::basic_istringstream<",
    "std::__cxx11::basic_ostringstream<",
    "std::__cxx11::basic_stringstream<",
    "std::bad_",
    "std::exception::",
    "std::logic_error::",
    "std::invalid_argument::",
    "std::domain_error::",
    "std::length_error::",
    "std::out_of_range::",
    "std::runtime_error::",
    "std::range_error::",
    "std::overflow_error::",
    "std::underflow_error::",
    "std::system_error::",
    "std::future_error::",
    "std::nested_exception::",
    "std::__exception_ptr::",
    "std::current_exception",
    "std::uncaught_exception",
    "std::generic_category",
    "std::system_category",
    "std::_V2::error_category::",
    "std::_V2::generic_category",
    "std::_V2::system_category",
    "std::error_code::",
    "std::random_device::",
    "std::_Hash_bytes",
    "std::gslice::_Indexer::",
    "std::thread::hardware_concurrency",
    "std::this_thread::",
    "std::condition_variable::notify_",
    "std::to_chars",
    "std::from_chars",
    "std::vformat",
    "std::__format::",
    "std::chrono::_V2::",
    "std::ios_base::",
    "std::istream::",
    "std::ostream::",
    "std::locale::",
    "std::ctype<",
    "std::codecvt<",
    "std::num_get<",
    "std::num_put<",
    "std::numpunct<",
    "std::__cxx11::numpunct<",
    "std::use_facet<",
    "std::has_facet<",
    "std::operator<<",
    "std::operator>>",
    "std::getline<",
    "std::__ostream_insert<",
    "Eigen::internal::Colamd::",
    "fmt::",
    "spdlog::",
    "google::LogMessage",
    "google::ErrnoLogMessage",
    "absl::log_internal::",
    "boost::log::",
    "std::pmr::get_default_resource",
    "std::pmr::set_default_resource",
    "std::pmr::new_delete_resource",
    "std::pmr::null_memory_resource",
    "std::pmr::memory_resource::~",
    "std::pmr::monotonic_buffer_resource::",
    "std::pmr::unsynchronized_pool_resource::",
    "std::pmr::synchronized_pool_resource::",
];

/// Starts of names in flang's runtime library: characters, the type of an object, the time, the environment.
const FORTRAN: [&str; 22] = [
    "_FortranAAdjust",
    "_FortranACharacter",
    "_FortranAClassIs",
    "_FortranACpuTime",
    "_FortranADateAndTime",
    "_FortranAExponent",
    "_FortranAExtendsTypeOf",
    "_FortranAGetCommand",
    "_FortranAGetEnv",
    "_FortranAIndex",
    "_FortranALenTrim",
    "_FortranARandomInit",
    "_FortranARandomSeed",
    "_FortranARepeat",
    "_FortranASameTypeAs",
    "_FortranAScan",
    "_FortranASelected",
    "_FortranASpacing",
    "_FortranASystemClock",
    "_FortranAThisImage",
    "_FortranATrim",
    "_FortranAVerify",
];

/// What all names in that library begin with.
const FORTRAN_RUNTIME: &str = "_FortranA";

/// The symbols that names in `inactive=` mean in a module. A name without a function stays as it is.
pub fn symbols(module: &Module<'_>, names: &[String]) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let all: Vec<String> = module.get_functions().map(|f| text(f.get_name())).collect();
    let mut found: Vec<String> = Vec::new();
    for name in names {
        match names::all(name, &all).as_slice() {
            [] => found.push(name.clone()),
            some => found.extend(some.iter().map(|symbol| (*symbol).to_owned())),
        }
    }
    found.dedup();
    found
}

/// Whether every function marked inactive is there.
pub fn check(module: &Module<'_>, names: &[String]) -> std::result::Result<(), Refusal> {
    match symbols(module, names).iter().find(|n| module.get_function(n).is_none()) {
        Some(name) => {
            let all: Vec<String> = module.get_functions().map(|f| names::short(&text(f.get_name()))).collect();
            Err(refusals::unknown_inactive(name, &all))
        }
        None => Ok(()),
    }
}

/// Marks functions whose value and effects carry no derivative.
pub fn mark(module: &Module<'_>, symbols: &[String]) -> Result<()> {
    for name in symbols {
        let function = module
            .get_function(name)
            .ok_or_else(|| format!("`{name}` is marked inactive, but nothing in the source calls or defines it"))?;
        mark_one(module, function, function.count_basic_blocks() == 0);
        set_string_attribute(module, function, INACTIVE_BY_NAME, "");
    }
    Ok(())
}

/// Marks what reads and writes text, or the state of processor and system, as far as Enzyme does not know it. A number that is read from a text has no
/// derivative.
///
/// # Errors
///
/// LLVM's own.
pub fn mark_text(module: &Module<'_>) -> Result<()> {
    let is_text = |f: &FunctionValue<'_>| {
        let symbol = text(f.get_name());
        if !symbol.starts_with("_Z") {
            // ffgrad's own BLAS has a prefix.
            let is_algebra = ALGEBRA.contains(&symbol.strip_prefix("scipy_").unwrap_or(&symbol));
            let is_text = OUTPUT.contains(&symbol.as_str()) || FORTRAN.iter().any(|start| symbol.starts_with(start));
            return f.count_basic_blocks() == 0 && (is_text || is_algebra);
        }
        let name = names::short(&symbol);
        TEXT.iter().any(|start| name.starts_with(start))
    };
    module.get_functions().filter(is_text).for_each(|f| {
        if text(f.get_name()).starts_with(FORTRAN_RUNTIME) {
            mark_runtime(module, f);
        } else {
            mark_one(module, f, true);
        }
    });
    wrap_processor_state(module)
}

/// Marks a function of flang's runtime library. Those keep nothing that they are given beyond the statement.
pub fn mark_runtime(module: &Module<'_>, function: FunctionValue<'_>) {
    mark_one(module, function, true);
    set_string_attribute(module, function, INACTIVE_BY_NAME, "");
}

/// LLVM's functions that read and write the processor's state: rounding, flags, counters. Enzyme knows none of them.
const PROCESSOR: [&str; 8] = [
    "llvm.x86.sse.stmxcsr",
    "llvm.x86.sse.ldmxcsr",
    "llvm.get.rounding",
    "llvm.set.rounding",
    "llvm.readcyclecounter",
    "llvm.readsteadycounter",
    "llvm.x86.rdtsc",
    "llvm.x86.rdtscp",
];

/// Gives each of them that is called a function around it, which is inactive: of intrinsics themselves Enzyme does not ask that.
fn wrap_processor_state(module: &Module<'_>) -> Result<()> {
    for inner in PROCESSOR.iter().filter_map(|name| module.get_function(name)) {
        let outer = module.add_function(&format!("ffgrad.{}", text(inner.get_name())), inner.get_type(), None);
        outer.set_linkage(Linkage::Internal);
        inner.replace_all_uses_with(outer);
        let builder = module.get_context().create_builder();
        builder.position_at_end(module.get_context().append_basic_block(outer, ""));
        let given: Vec<_> = outer.get_params().into_iter().map(Into::into).collect();
        let call = builder.build_call(inner, &given, "").map_err(|e| e.to_string())?;
        let result = call.try_as_basic_value().basic();
        builder.build_return(result.as_ref().map(|r| r as &dyn BasicValue<'_>)).map_err(|e| e.to_string())?;
        mark_one(module, outer, true);
    }
    Ok(())
}

/// Whether the user, or a rule, says that a function is inactive. What it is given it does not keep.
pub fn is_named(function: FunctionValue<'_>) -> bool {
    function.get_string_attribute(AttributeLoc::Function, INACTIVE_BY_NAME).is_some()
}

/// Without a body to look at, and in text functions, Enzyme has to be told that nothing is freed that a derivative needs.
pub fn mark_one(module: &Module<'_>, function: FunctionValue<'_>, frees_nothing: bool) {
    set_string_attribute(module, function, "enzyme_inactive", "");
    set_string_attribute(module, function, "enzyme_nofree", "");
    // Without this Enzyme looks for a derivative all the same if there is a pointer among the arguments.
    set_string_attribute(module, function, "enzyme_no_escaping_allocation", "");
    // The types in its body do not matter, and may be many.
    set_string_attribute(module, function, "enzyme_ta_norecur", "");
    // An inlined body would lose the mark; LLVM has the function one or the other.
    let kind = Attribute::get_named_enum_kind_id;
    function.remove_enum_attribute(AttributeLoc::Function, kind("alwaysinline"));
    let flags: &[&str] = if frees_nothing { &["noinline", "nofree"] } else { &["noinline"] };
    for flag in flags {
        function.add_attribute(AttributeLoc::Function, module.get_context().create_enum_attribute(kind(flag), 0));
    }
}
