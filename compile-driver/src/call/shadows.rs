//! Fills the slots of an entry point's argument array: primals, shadows, cotangents, tangents.
//!
//! Shadows of inputs are results, zeroed and added to. Shadows of what the function writes are private copies of the
//! caller's cotangents, because the reverse mode consumes them.

use crate::call::arguments::{Call, Input, Results, View};
use crate::call::task::Task;
use crate::error::Result;
use core_ad::plan::{Part, Slot};
use core_ad::protocol::Entry;
use core_ad::{DerivativeSet, Role};
use std::ffi::c_void;

impl Call<'_> {
    /// Finds the memory behind every slot of the entry point, and prepares it.
    pub(crate) fn fill_slots(
        &self,
        task: &Task<'_>,
        wanted: DerivativeSet,
        results: &mut dyn Results,
        slots: &mut Vec<*mut c_void>,
    ) -> Result<()> {
        for slot in self.plan.slots(task.entry, wanted.mask) {
            let address = match (task.entry, slot.part) {
                (Entry::Primal, _) => self.primal_slot(task, slot.arg, results)?,
                (_, Part::Primal) => self.working_primal(task.inputs, slot.arg)?,
                (Entry::Vjp | Entry::Augmented | Entry::Reverse, _) => {
                    self.vjp_slot(task, wanted.mask & task.mask, slot.arg, results)?
                }
                (Entry::Jvp, _) => self.jvp_slot(task, slot.arg, results)?,
                (Entry::Hvp, _) => self.hvp_slot(task, wanted.mask & task.mask, slot, results)?,
                (Entry::Jvp2, _) => self.jvp2_slot(task, slot, results)?,
            };
            slots.push(address.cast());
        }
        Ok(())
    }

    fn primal_slot(&self, task: &Task<'_>, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let memory = self.output_memory(arg, results)?;
        match self.plan.args[arg].role {
            Role::Input => self.input(arg, self.input_for(task.inputs, arg)),
            Role::Size => self.size(arg),
            Role::InOut => {
                let memory = if memory.is_null() { self.memory(self.bytes(arg))? } else { memory };
                self.copy_input(self.input_for(task.inputs, arg), arg, memory)?;
                Ok(memory)
            }
            Role::Output | Role::Return | Role::Scratch => self.zeroed(memory, self.bytes(arg)),
        }
    }

    fn vjp_slot(&self, task: &Task<'_>, mask: u64, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let plan = self.plan;
        match plan.args[arg].role {
            Role::Input | Role::Scratch => self.gradient(arg, mask, results),
            // For an argument updated in place, reverse mode overwrites the cotangent of the result with the
            // gradient of the input.
            _ => {
                let memory = match self.gradient_position(arg, mask) {
                    Some(p) => results.allocate(p, plan.args[arg].dtype, &self.resolved.shapes[arg])?,
                    None => std::ptr::null_mut(),
                };
                let output = plan.outputs.iter().position(|&o| o == arg);
                self.shadow_copy(arg, memory, output.and_then(|p| task.cotangents[p].as_ref()))
            }
        }
    }

    fn jvp_slot(&self, task: &Task<'_>, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let memory = self.output_memory(arg, results)?;
        let tangent = self.tangent_of(task.tangents, arg);
        match (self.plan.args[arg].role, tangent) {
            (Role::Input, Some(view)) => self.input(arg, &Input::Array(view)),
            (Role::InOut, tangent) => self.shadow_copy(arg, memory, tangent.as_ref()),
            _ => self.zeroed(memory, self.bytes(arg)),
        }
    }

    fn hvp_slot(&self, task: &Task<'_>, mask: u64, slot: Slot, results: &mut dyn Results) -> Result<*mut u8> {
        let (plan, arg, nowhere) = (self.plan, slot.arg, std::ptr::null_mut());
        match slot.part {
            Part::ShadowChange => self.gradient(arg, mask, results),
            Part::Direction => match (plan.args[arg].role, self.tangent_of(task.tangents, arg)) {
                (Role::Input, Some(view)) => self.input(arg, &Input::Array(view)),
                (_, tangent) => self.shadow_copy(arg, nowhere, tangent.as_ref()),
            },
            Part::Shadow | Part::Primal => {
                let output = plan.outputs.iter().position(|&o| o == arg);
                self.shadow_copy(arg, nowhere, output.and_then(|p| task.cotangents[p].as_ref()))
            }
        }
    }

    fn jvp2_slot(&self, task: &Task<'_>, slot: Slot, results: &mut dyn Results) -> Result<*mut u8> {
        let (plan, arg) = (self.plan, slot.arg);
        if slot.part == Part::ShadowChange {
            let memory = self.output_memory(arg, results)?;
            return self.zeroed(memory, self.bytes(arg));
        }
        let given = if slot.part == Part::Direction { task.directions } else { task.tangents };
        match (plan.args[arg].role, self.tangent_of(given, arg)) {
            (Role::Input, Some(view)) => self.input(arg, &Input::Array(view)),
            (_, tangent) => self.shadow_copy(arg, std::ptr::null_mut(), tangent.as_ref()),
        }
    }

    /// Memory for the result that an argument is, null where it is none.
    fn output_memory(&self, arg: usize, results: &mut dyn Results) -> Result<*mut u8> {
        let plan = self.plan;
        match plan.outputs.iter().position(|&o| o == arg) {
            Some(position) => results.allocate(position, plan.args[arg].dtype, &self.resolved.shapes[arg]),
            None => Ok(std::ptr::null_mut()),
        }
    }

    /// Memory that the gradient of an argument is added to: zeros, unless a sum is there already.
    fn gradient(&self, arg: usize, mask: u64, results: &mut dyn Results) -> Result<*mut u8> {
        let Some(position) = self.gradient_position(arg, mask) else { return self.zeros(self.bytes(arg)) };
        let memory = results.allocate(position, self.plan.args[arg].dtype, &self.resolved.shapes[arg])?;
        if results.adds(position) && !memory.is_null() {
            return Ok(memory);
        }
        self.zeroed(memory, self.bytes(arg))
    }

    /// The place of an argument among the inputs, if its gradient is wanted.
    fn gradient_position(&self, arg: usize, mask: u64) -> Option<usize> {
        self.plan.inputs.iter().position(|&i| i == arg).filter(|&p| mask >> p & 1 == 1)
    }

    /// The tangent of an argument, if it is an input that has one.
    fn tangent_of<'t>(&self, tangents: &[Option<View<'t>>], arg: usize) -> Option<View<'t>> {
        self.plan.inputs.iter().position(|&i| i == arg).and_then(|p| tangents[p])
    }

    /// The primal of an argument in a derivative call: what the caller gave, or working memory.
    fn working_primal(&self, inputs: &[Input<'_>], arg: usize) -> Result<*mut u8> {
        match self.plan.args[arg].role {
            Role::Input => self.input(arg, self.input_for(inputs, arg)),
            Role::Size => self.size(arg),
            Role::InOut => {
                let copy = self.memory(self.bytes(arg))?;
                self.copy_input(self.input_for(inputs, arg), arg, copy)?;
                Ok(copy)
            }
            Role::Output | Role::Scratch | Role::Return => self.zeros(self.bytes(arg)),
        }
    }

    /// What the caller gave for an argument.
    fn input_for<'i>(&self, inputs: &'i [Input<'i>], arg: usize) -> &'i Input<'i> {
        let position = self.plan.inputs.iter().position(|&i| i == arg).unwrap_or(0);
        &inputs[position]
    }

    /// A private copy of a shadow (zeros where there is none), in `memory` or where that is null in working memory.
    fn shadow_copy(&self, arg: usize, memory: *mut u8, view: Option<&View<'_>>) -> Result<*mut u8> {
        let memory = if memory.is_null() { self.memory(self.bytes(arg))? } else { memory };
        self.copy_shadow(view, arg, memory);
        Ok(memory)
    }

    /// Zeroed result memory, or zeroed working memory where no result is wanted.
    fn zeroed(&self, wanted: *mut u8, bytes: usize) -> Result<*mut u8> {
        if wanted.is_null() {
            return self.zeros(bytes);
        }
        // SAFETY: the front end allocated room for the result.
        unsafe { wanted.write_bytes(0, bytes) };
        Ok(wanted)
    }
}
