//! The jobs that find out about the loaded code and write nothing: rules, prototypes.

use super::Session;
use crate::analysis::cfg;
use crate::derive::Team;
use crate::ir::Result;
use crate::llvm::{debug_info, linkage, pipelines};
use crate::lowering::{checkpoint, cuda_threads, fortran_runtime, mismatched_calls};
use crate::rules;
use core_ad::cuda::UNSET_CONSTANT;
use core_ad::protocol::{Derivative, Response};
use core_ad::{Prototype, adapter, metadata};
use inkwell::values::AnyValue;

impl Session<'_> {
    pub(super) fn check_rules(&mut self, derivatives: &[Derivative], inactive: &[String]) -> Result<Response> {
        if derivatives.is_empty() && inactive.is_empty() && !rules::are_declared(self.module()?) {
            return Ok(Response::Checked { rules: Vec::new() });
        }
        let module = self.module()?.clone();
        let (rules, _) = self.collect_rules(&module, derivatives)?;
        if let Err(refusal) = rules::inactive::check(&module, inactive) {
            self.refusal = Some(refusal);
            return Err("a function that is marked inactive does not exist".to_owned());
        }
        Ok(Response::Checked { rules: rules.iter().map(rules::given).collect() })
    }

    pub(super) fn describe(&mut self, symbol: &str, function: &str) -> Result<Response> {
        if let Some(prototype) = self.adapted(symbol, function)? {
            // What is done with objects does not matter: it is the adapter that is looked at.
            return Ok(Response::Described { prototype, single_precision: false });
        }
        let module = self.module()?.clone();
        let within = checkpoint::within(&module, symbol, &self.checkpoints);
        within.map_err(|refusal| self.refuse(refusal))?;
        checkpoint::forget(&module);
        // What a pointer is used for does not show through a fork.
        let team = if self.uses_openmp()? { Team::One } else { Team::None };
        self.lower_openmp(&module, team, Some(symbol))?;
        linkage::keep_only_symbol(&module, symbol)?;
        if let Some(refusal) = mismatched_calls::refusal(&module, symbol, function) {
            return Err(self.refuse(refusal));
        }
        let description = module.get_function(symbol).and_then(|f| debug_info::description(&module, f));
        debug_info::strip(&module);
        let (number, nodes) = description.unwrap_or_default();
        pipelines::drop_unused(&module)?;
        pipelines::infer_attributes(&module)?;
        let unset = cuda_threads::unset_constant(&module);
        unset.map_or(Ok(()), |name| Err(format!("{UNSET_CONSTANT}`{name}`")))?;
        let text = module.print_to_string().to_string();
        let mut prototype = metadata::discover(&text, &number, &nodes, symbol, function).map_err(|e| e.to_string())?;
        if fortran_runtime::refuses(&module) && !module.get_function(symbol).is_none_or(cfg::returns) {
            // What stands behind a call without a rule is gone, and its accesses with it; the library's function returns.
            prototype.params.iter_mut().for_each(|parameter| parameter.access = None);
        }
        Ok(Response::Described { prototype, single_precision: has_single_precision(&text) })
    }

    /// The prototype of a function that needs an adapter: its debug information says all of it.
    fn adapted(&mut self, symbol: &str, function: &str) -> Result<Option<Prototype>> {
        let module = self.module()?;
        let Some(found) = module.get_function(symbol).filter(|_| self.checkpoints.is_empty()) else { return Ok(None) };
        let (number, nodes) = debug_info::description(module, found).unwrap_or_default();
        let declaration = found.print_to_string().to_string();
        let prototype = metadata::discover(&declaration, &number, &nodes, symbol, function).ok();
        Ok(prototype.filter(adapter::is_needed))
    }
}

/// Whether values are rounded to single precision, or to less, or read in it. `long double` rounded to `double` is another matter (random numbers of
/// the standard library).
fn has_single_precision(module: &str) -> bool {
    let is_rounded = |line: &str| {
        line.contains(" fptrunc ") && [" to float", " to half", " to bfloat"].iter().any(|to| line.contains(to))
    };
    module.contains(" x float") || module.contains("load float") || module.lines().any(is_rounded)
}

#[cfg(test)]
mod tests {
    use super::has_single_precision;

    #[test]
    fn long_double_rounded_to_double_is_not_single_precision() {
        assert!(!has_single_precision("  %x = fptrunc x86_fp80 %y to double\n  %z = fpext double %x to x86_fp80"));
        assert!(has_single_precision("  %x = fptrunc double %y to float, !dbg !7"));
        assert!(has_single_precision("  %x = fptrunc <2 x double> %y to <2 x float>"));
    }
}
