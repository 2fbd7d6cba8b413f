//! Vector versions of libm functions (glibc's libmvec) for the loop vectoriser.
//!
//! libmvec has at most 4 units in the last place of error; NaN and infinity as IEEE 754 asks. LLVM knows libmvec, but
//! its C interface cannot select it; so the attribute that LLVM's own pass would add to each call is added here:
//! `vector-function-abi-variant`, in LLVM's internal naming `_ZGV_LLVM_N4v_sin(_ZGVdN4v_sin)`.

use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::module::{Linkage, Module};
use inkwell::types::BasicMetadataTypeEnum;
use inkwell::values::{AsValueRef, CallSiteValue, FunctionValue, InstructionOpcode, PointerValue};
use std::collections::BTreeSet;
use std::ffi::CString;

/// Functions with one or two arguments that libmvec may have.
const FUNCTIONS: [(&str, usize); 26] = [
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("asin", 1),
    ("acos", 1),
    ("atan", 1),
    ("sinh", 1),
    ("cosh", 1),
    ("tanh", 1),
    ("asinh", 1),
    ("acosh", 1),
    ("atanh", 1),
    ("exp", 1),
    ("exp2", 1),
    ("exp10", 1),
    ("expm1", 1),
    ("log", 1),
    ("log2", 1),
    ("log10", 1),
    ("log1p", 1),
    ("cbrt", 1),
    ("erf", 1),
    ("erfc", 1),
    ("pow", 2),
    ("atan2", 2),
    ("hypot", 2),
];

/// Letter of the instruction set in names, and bytes of its vectors.
#[derive(Clone, Copy)]
struct Width {
    letter: char,
    bytes: usize,
}

/// Attaches the vector versions that this machine's libmvec has to every call of a known function.
pub fn attach(module: &Module<'_>, features: &str) {
    let widths = widths(features);
    let Some(library) = Library::open().filter(|_| !widths.is_empty()) else { return };
    let mut used: BTreeSet<String> = BTreeSet::new();
    for block in module.get_functions().flat_map(|f| f.get_basic_blocks()) {
        for instruction in block.get_instructions().filter(|i| i.get_opcode() == InstructionOpcode::Call) {
            let Ok(call) = CallSiteValue::try_from(instruction) else { continue };
            let Some(callee) = call.get_called_fn_value() else { continue };
            let Some((name, single, arguments)) = known(callee) else { continue };
            let variants = variants(module, &library, &widths, &name, single, arguments, callee);
            if variants.is_empty() {
                continue;
            }
            let text = variants.iter().map(|(attribute, _)| attribute.as_str()).collect::<Vec<_>>().join(",");
            let attribute = module.get_context().create_string_attribute("vector-function-abi-variant", &text);
            call.add_attribute(AttributeLoc::Function, attribute);
            used.extend(variants.into_iter().map(|(_, symbol)| symbol));
        }
    }
    keep(module, &used);
}

/// The libm name of a function or intrinsic, whether it is single precision, and its number of arguments.
fn known(callee: FunctionValue<'_>) -> Option<(String, bool, usize)> {
    let name = callee.get_name().to_str().ok()?;
    let (base, single) = match name.strip_prefix("llvm.") {
        Some(intrinsic) => {
            let (base, ty) = intrinsic.rsplit_once('.')?;
            (base, ty == "f32")
        }
        None => match name.strip_suffix('f') {
            Some(base) if FUNCTIONS.iter().any(|(f, _)| *f == base) => (base, true),
            _ => (name, false),
        },
    };
    if name.ends_with(".f64") || name.ends_with(".f32") || !name.starts_with("llvm.") {
        let (function, arguments) = FUNCTIONS.iter().find(|(f, _)| *f == base)?;
        return Some(((*function).to_owned(), single, *arguments));
    }
    None
}

fn widths(features: &str) -> Vec<Width> {
    let has = |feature: &str| features.split(',').any(|f| f == feature);
    let mut widths = Vec::new();
    if cfg!(target_arch = "x86_64") {
        widths.push(Width { letter: 'b', bytes: 16 });
        if has("+avx2") {
            widths.push(Width { letter: 'd', bytes: 32 });
        } else if has("+avx") {
            widths.push(Width { letter: 'c', bytes: 32 });
        }
        if has("+avx512f") {
            widths.push(Width { letter: 'e', bytes: 64 });
        }
    }
    widths
}

/// Attribute text and symbol of each vector version, declared in the module.
fn variants<'ctx>(
    module: &Module<'ctx>,
    library: &Library,
    widths: &[Width],
    name: &str,
    single: bool,
    arguments: usize,
    callee: FunctionValue<'ctx>,
) -> Vec<(String, String)> {
    let context = module.get_context();
    let (suffix, size) = if single { ("f", 4) } else { ("", 8) };
    let scalar = callee.get_name().to_string_lossy().into_owned();
    let mut found = Vec::new();
    for width in widths {
        let lanes = width.bytes / size;
        let vectors = "v".repeat(arguments);
        let symbol = format!("_ZGV{}N{lanes}{vectors}_{name}{suffix}", width.letter);
        if !library.has(&symbol) {
            continue;
        }
        if module.get_function(&symbol).is_none() {
            let ty = match single {
                true => context.f32_type().vec_type(lanes as u32),
                false => context.f64_type().vec_type(lanes as u32),
            };
            let parameters: Vec<BasicMetadataTypeEnum<'ctx>> = vec![ty.into(); arguments];
            let function = module.add_function(&symbol, ty.fn_type(&parameters, false), Some(Linkage::External));
            // memory(none) is the attribute's value 0.
            for kind in ["memory", "nounwind", "willreturn"] {
                let kind = Attribute::get_named_enum_kind_id(kind);
                function.add_attribute(AttributeLoc::Function, context.create_enum_attribute(kind, 0));
            }
        }
        found.push((format!("_ZGV_LLVM_N{lanes}{vectors}_{scalar}({symbol})"), symbol));
    }
    found
}

/// Keeps the declarations until the vectoriser has run.
fn keep(module: &Module<'_>, symbols: &BTreeSet<String>) {
    if symbols.is_empty() || module.get_global("llvm.compiler.used").is_some() {
        return;
    }
    let pointer = module.get_context().ptr_type(AddressSpace::default());
    let pointers: Vec<PointerValue<'_>> =
        symbols.iter().filter_map(|s| Some(module.get_function(s)?.as_global_value().as_pointer_value())).collect();
    let array = pointer.const_array(&pointers);
    let list = module.add_global(array.get_type(), None, "llvm.compiler.used");
    list.set_initializer(&array);
    list.set_linkage(Linkage::Appending);
    list.set_section(Some("llvm.metadata"));
}

/// Drops what [`attach`] kept and the vectoriser did not use.
pub fn undo(module: &Module<'_>) {
    if let Some(list) = module.get_global("llvm.compiler.used") {
        // SAFETY: the list is a live global of this module and nothing refers to it.
        unsafe { llvm_sys::core::LLVMDeleteGlobal(list.as_value_ref()) };
    }
}

/// The machine's libmvec.
struct Library(std::ptr::NonNull<std::ffi::c_void>);

impl Library {
    fn open() -> Option<Self> {
        // SAFETY: a C string; loading glibc's own library runs no code of ours.
        let handle = unsafe { dlopen(c"libmvec.so.1".as_ptr(), RTLD_LAZY) };
        std::ptr::NonNull::new(handle).map(Library)
    }

    fn has(&self, symbol: &str) -> bool {
        let Ok(symbol) = CString::new(symbol) else { return false };
        // SAFETY: a handle from dlopen and a C string.
        !unsafe { dlsym(self.0.as_ptr(), symbol.as_ptr()) }.is_null()
    }
}

const RTLD_LAZY: i32 = 1;

unsafe extern "C" {
    fn dlopen(name: *const std::ffi::c_char, flags: i32) -> *mut std::ffi::c_void;
    fn dlsym(handle: *mut std::ffi::c_void, name: *const std::ffi::c_char) -> *mut std::ffi::c_void;
}
