//! LAPACK's drivers that the user's sources define: the library has a rule for them, by which their callers are differentiated.
//!
//! ```text
//! subroutine fit(...)            call dgels_ ─► ffgrad_dgels_ (the rule) ─► dgels_ (the user's body)
//! ```
//!
//! A derivative of their code would take a minute to build, where the rule takes a second. The body stays what it is and is called for
//! values alone, and is kept away from Enzyme. Whether a body is LAPACK's is seen by what it calls; a function that merely has the name is differentiated as code.

use super::rule::text;
use crate::ir::{self, Op, Result, Value};
use crate::llvm::{debug_info, linkage, pipelines};
use inkwell::module::{Linkage, Module};
use inkwell::types::AsTypeRef;
use inkwell::values::{AsValueRef, FunctionValue};
use llvm_sys::LLVMTypeKind;
use llvm_sys::core::*;
use std::collections::HashSet;

/// What one of LAPACK's routines is known by, in either precision.
struct Driver {
    /// Its name without the type and the underscore.
    name: &'static str,
    /// How many arguments it has, without the lengths of texts that Fortran adds.
    arguments: usize,
    /// The position of an integer that it reads.
    size: usize,
    /// Of each group it calls one.
    calls: &'static [&'static [&'static str]],
}

const DRIVERS: &[Driver] = &[
    Driver { name: "gesv", arguments: 8, size: 0, calls: &[&["getrf"], &["getrs"]] },
    Driver { name: "getrf", arguments: 6, size: 0, calls: &[&["getrf2", "getf2"], &["laswp"]] },
    Driver { name: "getrs", arguments: 9, size: 1, calls: &[&["laswp"], &["trsm"]] },
    Driver { name: "posv", arguments: 8, size: 1, calls: &[&["potrf"], &["potrs"]] },
    Driver { name: "potrf", arguments: 5, size: 1, calls: &[&["potrf2", "potf2"], &["trsm"]] },
    Driver { name: "potrs", arguments: 8, size: 1, calls: &[&["trsm"]] },
    Driver { name: "syev", arguments: 9, size: 2, calls: &[&["sytrd"], &["steqr", "sterf"]] },
    Driver { name: "syevd", arguments: 11, size: 2, calls: &[&["sytrd"], &["stedc"]] },
    Driver { name: "gels", arguments: 11, size: 1, calls: &[&["geqrf"], &["ormqr"]] },
    Driver { name: "gesvd", arguments: 14, size: 2, calls: &[&["gebrd"], &["bdsqr"]] },
    Driver { name: "gesdd", arguments: 14, size: 1, calls: &[&["gebrd"], &["bdsdc"]] },
    Driver { name: "geev", arguments: 14, size: 2, calls: &[&["gehrd"], &["hseqr"]] },
];

/// Names of the drivers whose bodies here are LAPACK's.
pub fn bodies(module: &Module<'_>) -> Vec<String> {
    ir::functions(module).into_iter().filter(|&f| is_driver(f)).map(|f| text(f.get_name())).collect()
}

fn is_driver(function: FunctionValue<'_>) -> bool {
    let symbol = text(function.get_name());
    let Some((precision, name)) = symbol.strip_suffix('_').and_then(|name| name.split_at_checked(1)) else {
        return false;
    };
    let Some(driver) = DRIVERS.iter().find(|d| d.name == name).filter(|_| ["d", "s"].contains(&precision)) else {
        return false;
    };
    has_arguments(function, driver, precision == "d") && calls_all(function, precision, driver.calls)
}

fn calls_all(function: FunctionValue<'_>, precision: &str, groups: &[&[&str]]) -> bool {
    let instructions = ir::blocks(function).into_iter().flat_map(ir::Block::instructions);
    let callees: HashSet<String> = instructions.filter_map(Value::callee).collect();
    groups.iter().all(|group| group.iter().any(|name| callees.contains(&format!("{precision}{name}_"))))
}

/// Whether it takes LAPACK's arguments: addresses, of integers of 32 bits and numbers of the precision that the name says.
fn has_arguments(function: FunctionValue<'_>, driver: &Driver, is_double: bool) -> bool {
    let all = ir::arguments(function);
    let Some((own, lengths)) = all.split_at_checked(driver.arguments) else { return false };
    let is_length = |v: &Value| v.kind() == LLVMTypeKind::LLVMIntegerTypeKind;
    if !own.iter().all(|v| v.is_pointer()) || !lengths.iter().all(is_length) {
        return false;
    }
    let sizes = accessed(own[driver.size]);
    let is_int = |v: &Value| v.kind() == LLVMTypeKind::LLVMIntegerTypeKind && bits(*v) == 32;
    let mut numbers = own.iter().flat_map(|&argument| accessed(argument)).filter(|v| v.is_float());
    !sizes.is_empty() && sizes.iter().all(is_int) && numbers.all(|v| v.is_double() == is_double)
}

/// Values that are read or written at an address, or at one that is derived from it.
fn accessed(argument: Value) -> Vec<Value> {
    let mut found = Vec::new();
    let mut open = vec![argument];
    let mut seen = HashSet::new();
    while let Some(address) = open.pop() {
        if !seen.insert(address) {
            continue;
        }
        for user in address.users() {
            match user.op() {
                Some(Op::LLVMGetElementPtr) => open.push(user),
                Some(Op::LLVMLoad) => found.push(user),
                Some(Op::LLVMStore) if user.operand(1) == address => found.push(user.operand(0)),
                // Kept in a variable, as unoptimised C keeps arguments.
                Some(Op::LLVMStore) => {
                    let loads = user.operand(1).users().into_iter().filter(|u| u.is(Op::LLVMLoad) && u.is_pointer());
                    open.extend(loads);
                }
                _ => {}
            }
        }
    }
    found
}

fn bits(value: Value) -> u32 {
    // SAFETY: asked of integers only.
    unsafe { LLVMGetIntTypeWidth(value.ty()) }
}

/// Lets the callers of drivers call what `renamed` names in their place, and returns the drivers' names. LAPACK's own bodies call one
/// another as before.
pub fn call_rules(module: &Module<'_>, renamed: &[(String, String)]) -> Vec<String> {
    let bodies: Vec<FunctionValue<'_>> = ir::functions(module).into_iter().filter(|&f| is_driver(f)).collect();
    let own: HashSet<ir::Block> = bodies.iter().flat_map(|&body| ir::blocks(body)).collect();
    let mut names = Vec::new();
    for body in &bodies {
        let name = text(body.get_name());
        let Some((_, rule)) = renamed.iter().find(|(old, _)| *old == name) else { continue };
        names.push(name);
        let rule = module.get_function(rule).unwrap_or_else(|| module.add_function(rule, body.get_type(), None));
        let (old, new) = (Value(body.as_value_ref()), Value(rule.as_value_ref()));
        for user in old.users().into_iter().filter(|u| u.is_instruction() && !own.contains(&u.parent())) {
            for (i, operand) in (0..).zip(user.operands()) {
                if operand == old {
                    // SAFETY: an operand of a live instruction; both are addresses.
                    unsafe { LLVMSetOperand(user.0, i, new.0) };
                }
            }
        }
    }
    names
}

/// How the body of a driver is called that is differentiated itself.
const BODY: &str = "ffgrad.body.";

/// The function that is differentiated may be a driver: then it has the rule's derivative, too.
pub fn enter<'ctx>(module: &Module<'ctx>, symbol: &str) -> Result<()> {
    let defined = |name: &str| module.get_function(name).filter(|f| f.count_basic_blocks() > 0);
    let (Some(body), Some(rule)) = (defined(symbol), defined(&format!("ffgrad_{symbol}"))) else { return Ok(()) };
    if !is_driver(body) {
        return Ok(());
    }
    body.as_global_value().set_name(&format!("{BODY}{symbol}"));
    let entry = module.add_function(symbol, body.get_type(), None);
    let builder = module.get_context().create_builder();
    builder.position_at_end(module.get_context().append_basic_block(entry, ""));
    let count = rule.count_params() as usize;
    let arguments: Vec<_> = entry.get_params().into_iter().take(count).map(Into::into).collect();
    builder.build_call(rule, &arguments, "").map_err(|e| e.to_string())?;
    // SAFETY: the builder stands at the end of a block without a terminator; C translations return an integer.
    unsafe {
        match entry.get_type().get_return_type() {
            Some(ty) => LLVMBuildRet(builder.as_mut_ptr(), LLVMConstNull(ty.as_type_ref())),
            None => LLVMBuildRetVoid(builder.as_mut_ptr()),
        };
    }
    Ok(())
}

/// Takes the bodies of drivers, with all that they call, out of a module: Enzyme and the passes around it would look at much code that is
/// not differentiated. They come back by [`link_in_module`](Module::link_in_module). `None` where they stay: there are none, or variables
/// of theirs are others' too.
pub fn take_apart<'ctx>(module: &Module<'ctx>, drivers: &[String]) -> Result<Option<Module<'ctx>>> {
    let body = |name: &String| module.get_function(&format!("{BODY}{name}")).or_else(|| module.get_function(name));
    let found: Vec<_> = drivers.iter().filter_map(body).filter(|f| f.count_basic_blocks() > 0).collect();
    if found.is_empty() {
        return Ok(None);
    }
    let apart = alone(module, &found)?;
    let moved: Vec<_> = found.into_iter().map(|body| Moved::of(module, body)).collect();
    let rest = module.clone();
    pipelines::drop_unused(&rest)?;
    let others = variables(&rest);
    if variables(&apart).iter().any(|name| name.is_empty() || others.contains(name)) {
        moved.into_iter().for_each(Moved::undo);
        return Ok(None);
    }
    pipelines::drop_unused(module)?;
    Ok(Some(apart))
}

/// A module of these functions and what they need.
fn alone<'ctx>(module: &Module<'ctx>, found: &[FunctionValue<'ctx>]) -> Result<Module<'ctx>> {
    let apart = module.clone();
    for list in ["llvm.global_ctors", "llvm.global_dtors", "llvm.used", "llvm.compiler.used"] {
        if let Some(list) = apart.get_global(list) {
            // SAFETY: nothing refers to these lists.
            unsafe { LLVMDeleteGlobal(list.as_value_ref()) };
        }
    }
    let names: Vec<String> = found.iter().map(|f| text(f.get_name())).collect();
    linkage::keep_only_named(&apart, &names.iter().map(String::as_str).collect::<Vec<_>>());
    pipelines::drop_unused(&apart)?;
    debug_info::strip(&apart);
    Ok(apart)
}

/// Names of variables that have a value here and may change.
fn variables(module: &Module<'_>) -> HashSet<String> {
    let change = module.get_globals().filter(|g| !g.is_declaration() && !g.is_constant());
    change.map(|g| text(g.get_name())).filter(|name| !name.starts_with("llvm.")).collect()
}

/// A body in whose place there is a declaration.
struct Moved<'ctx> {
    body: FunctionValue<'ctx>,
    declaration: FunctionValue<'ctx>,
    linkage: Linkage,
}

impl<'ctx> Moved<'ctx> {
    fn of(module: &Module<'ctx>, body: FunctionValue<'ctx>) -> Self {
        let (name, linkage) = (text(body.get_name()), body.get_linkage());
        body.as_global_value().set_name("ffgrad.gone");
        let declaration = module.add_function(&name, body.get_type(), None);
        declaration.set_call_conventions(body.get_call_conventions());
        body.replace_all_uses_with(declaration);
        body.set_linkage(Linkage::Internal);
        Moved { body, declaration, linkage }
    }

    fn undo(self) {
        let name = text(self.declaration.get_name());
        self.declaration.replace_all_uses_with(self.body);
        // SAFETY: nothing refers to the declaration any more.
        unsafe { self.declaration.delete() };
        self.body.as_global_value().set_name(&name);
        self.body.set_linkage(self.linkage);
    }
}
