//! Analyses that change nothing: control flow, loops, induction variables, affine addresses, members of structures, memory objects, stack use,
//! virtual tables,
//! roots of zero.

pub mod affine;
pub mod affine_iv;
pub mod barriers;
pub mod cfg;
pub mod characters;
pub mod constant_objects;
pub mod counted_loop;
pub mod declared_types;
pub mod foreign_calls;
pub mod global_uses;
pub mod inactive_parts;
pub mod induction;
pub mod inner_loop;
pub mod integer_flow;
pub mod iterations;
pub mod member_layout;
pub mod memory_objects;
pub mod reachable;
pub mod stack_use;
pub mod type_names;
pub mod value_paths;
pub mod virtual_tables;
pub mod zero_roots;
