//! Links code that is written as text into a module.

use super::Result;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Links a text of IR, which `name` stands for in messages.
///
/// # Errors
///
/// LLVM's own.
pub fn link(module: &Module<'_>, text: &str, name: &str) -> Result<()> {
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), name);
    let body = module.get_context().create_module_from_ir(buffer).map_err(|e| e.to_string())?;
    // It has none, and a warning would be all that comes of a difference.
    body.set_triple(&module.get_triple());
    body.set_data_layout(&module.get_data_layout());
    module.link_in_module(body).map_err(|e| e.to_string())
}
