//! Rewrites around bugs of Enzyme and LLVM, one file each; `pipeline.rs` has them in a table.

pub mod copy_types;
pub mod cross_iteration;
pub mod distinct_addresses;
pub mod drop_attributes;
pub mod exit_values;
pub mod inactive_globals;
pub mod lagged_phi;
pub mod local_types;
pub mod loop_carried;
pub mod loop_dependence;
pub mod member_copies;
pub mod mixed_activity;
pub mod no_gathers;
pub mod opaque_latch;
pub mod outline_memcpy;
pub mod overlapping_moves;
pub mod phi_pointers;
pub mod split_select_loads;
pub mod split_switch_edges;
pub mod stable_tanh;
pub mod stack_array_cache;
pub mod struct_copies;
pub mod three_predecessors;
pub mod written_globals;
pub mod zero_stores;
