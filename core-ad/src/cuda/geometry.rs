//! The launch of a kernel: how many blocks of how many threads, and how much dynamic shared memory.
//!
//! Each extent is a number or an expression over the call's dimensions, in the language of signatures
//! (`"(n + 255) // 256"`). Without any there is one thread for each element of the first output. Bounds are the
//! kernel's own: it checks its index, as every kernel does.

use super::MOST_SHARED;
use crate::shapes::Resolved;
use crate::shapes::dims::{Trouble, evaluate};
use crate::{CallPlan, Dim, Role, signature};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Threads of a block, where nothing else is asked for.
const THREADS: i64 = 256;
/// The most a block may have.
const MOST_THREADS: i64 = 1024;
/// The most blocks along x, and along y and z.
const MOST_BLOCKS: [i64; 3] = [i32::MAX as i64, 65_535, 65_535];

/// An extent as the user writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Extent {
    /// A number.
    Number(i64),
    /// An expression over the dimensions.
    Expression(String),
}

/// The options, parsed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Geometry {
    grid: Vec<Dim>,
    block: Vec<Dim>,
    shared: Option<Dim>,
}

/// The launch of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// Blocks along x, y, z.
    pub grid: [i64; 3],
    /// Threads of a block along x, y, z.
    pub block: [i64; 3],
    /// Bytes of dynamic shared memory.
    pub shared: i64,
}

impl Launch {
    /// As the entry points of the CPU device take it.
    pub fn words(&self) -> [i64; 7] {
        let ([a, b, c], [d, e, f]) = (self.grid, self.block);
        [a, b, c, d, e, f, self.shared]
    }

    /// A launch from what a callable gave: extents of the grid and of the block, bytes of shared memory.
    ///
    /// # Errors
    ///
    /// A sentence where no GPU could do it.
    pub fn checked(grid: [i64; 3], block: [i64; 3], shared: i64) -> Result<Self, String> {
        let threads = block.iter().try_fold(1i64, |a, b| a.checked_mul(*b)).unwrap_or(i64::MAX);
        if block.iter().any(|&b| b < 1) || threads > MOST_THREADS || block[2] > 64 {
            return Err(format!("a block of {} threads is not possible: 1 to {MOST_THREADS} are", spell(&block)));
        }
        if grid.iter().zip(MOST_BLOCKS).any(|(&g, most)| !(0..=most).contains(&g)) {
            let most = "2147483647 along x, 65535 along y and z";
            return Err(format!("a grid of {} blocks is not possible: at most {most}", spell(&grid)));
        }
        if !(0..=MOST_SHARED).contains(&shared) {
            return Err(format!("{shared} bytes of shared memory are not possible: a block has at most {MOST_SHARED}"));
        }
        Ok(Launch { grid, block, shared })
    }
}

fn spell(extents: &[i64; 3]) -> String {
    extents.map(|e| e.to_string()).join(" x ")
}

impl Geometry {
    /// Reads the options.
    ///
    /// # Errors
    ///
    /// A sentence that names the option.
    pub fn parse(grid: &[Extent], block: &[Extent], shared: Option<&Extent>) -> Result<Self, String> {
        let one = |name: &str, extent: &Extent| match extent {
            Extent::Number(n) => Ok(Dim::Int(*n)),
            Extent::Expression(text) => {
                signature::dimension(text).map_err(|problem| format!("the option `{name}` is no dimension: {problem}"))
            }
        };
        let several = |name: &str, extents: &[Extent]| match extents.len() {
            0..=3 => extents.iter().map(|e| one(name, e)).collect::<Result<Vec<Dim>, String>>(),
            many => Err(format!("the option `{name}` has {many} extents: x, y and z are the most")),
        };
        Ok(Geometry {
            grid: several("grid", grid)?,
            block: several("block", block)?,
            shared: shared.map(|e| one("shared", e)).transpose()?,
        })
    }

    /// Blocks along z, where they are the same for every call.
    pub fn fixed_layers(&self) -> Option<i64> {
        match self.grid.get(2) {
            None => Some(1),
            Some(Dim::Int(layers)) => Some((*layers).max(1)),
            Some(_) => None,
        }
    }

    /// Bytes of dynamic shared memory, where they are the same for every call.
    pub fn fixed_shared(&self) -> Option<i64> {
        match &self.shared {
            None => Some(0),
            Some(Dim::Int(bytes)) => Some(*bytes),
            Some(_) => None,
        }
    }

    /// The launch for the shapes of one call.
    ///
    /// # Errors
    ///
    /// A sentence: an unknown symbol, or a launch that no GPU can do.
    pub fn launch(
        &self,
        plan: &CallPlan,
        resolved: &Resolved,
        sizes: &BTreeMap<String, i64>,
    ) -> Result<Launch, String> {
        let known = dimensions(plan, resolved, sizes);
        let value = |name: &str, dim: &Dim| {
            evaluate(dim, &|symbol| known.get(symbol).copied()).map_err(|trouble| match trouble {
                Trouble::Unbound(symbol) => {
                    let names: Vec<String> = known.keys().map(|k| format!("`{k}`")).collect();
                    format!(
                        "the option `{name}` uses `{symbol}`, which is no dimension of this call ({})",
                        names.join(", ")
                    )
                }
                Trouble::ZeroDivisor => format!("the option `{name}` divides by zero in this call"),
                Trouble::Overflow | Trouble::NoSolution => format!("the option `{name}` is too large in this call"),
            })
        };
        let extents = |name: &str, dims: &[Dim]| {
            let mut all = [1; 3];
            for (place, dim) in all.iter_mut().zip(dims) {
                *place = value(name, dim)?;
            }
            Ok::<[i64; 3], String>(all)
        };
        let wanted = plan.outputs.first().map_or(1, |&o| resolved.shapes[o].iter().product::<i64>());
        let block = match self.block.as_slice() {
            // A small problem needs no large block; whole warps all the same.
            [] if self.grid.is_empty() => [(wanted.clamp(1, THREADS) + 31) / 32 * 32, 1, 1],
            [] => [THREADS, 1, 1],
            dims => extents("block", dims)?,
        };
        let grid = match self.grid.as_slice() {
            [] if self.block.len() > 1 => {
                return Err("a block of two or three dimensions needs a `grid`: ffgrad does not guess how the kernel \
                            covers its arrays"
                    .to_owned());
            }
            [] => [(wanted + block[0].max(1) - 1) / block[0].max(1), 1, 1],
            dims => extents("grid", dims)?,
        };
        let shared = self.shared.as_ref().map_or(Ok(0), |dim| value("shared", dim))?;
        Launch::checked(grid, block, shared)
    }
}

/// Every dimension that a call has a value for, by name.
pub fn dimensions(plan: &CallPlan, resolved: &Resolved, sizes: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let mut known = sizes.clone();
    for (i, arg) in plan.args.iter().enumerate() {
        match (arg.role, arg.flat, arg.shape.as_slice()) {
            (Role::Size, ..) => {
                known.insert(arg.name.clone(), resolved.sizes[i]);
            }
            (_, true, [Dim::Sym(name)]) => {
                known.insert(name.clone(), resolved.shapes[i].iter().product());
            }
            (_, false, dims) => {
                for (dim, &extent) in dims.iter().zip(&resolved.shapes[i]) {
                    if let Dim::Sym(name) = dim {
                        known.insert(name.clone(), extent);
                    }
                }
            }
            _ => {}
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signature::plan;
    use crate::signature::tests::prototype;

    fn launch(grid: &[Extent], block: &[Extent], shared: Option<Extent>, shape: [i64; 2]) -> Result<Launch, String> {
        let kernel = prototype("void k(const double* r:x, double* w:y, int rows, int cols)");
        let plan = plan(&kernel, Some("x[rows,cols] -> y[rows,cols]"), &BTreeMap::new()).expect("a plan");
        let resolved = crate::shapes::resolve(&plan, &[&shape], &BTreeMap::new()).expect("shapes");
        Geometry::parse(grid, block, shared.as_ref())?.launch(&plan, &resolved, &BTreeMap::new())
    }

    fn text(expression: &str) -> Extent {
        Extent::Expression(expression.to_owned())
    }

    #[test]
    fn without_options_there_is_one_thread_for_each_element_of_the_first_output() {
        let given = launch(&[], &[], None, [100, 7]).expect("a launch");
        assert_eq!((given.grid, given.block), ([3, 1, 1], [256, 1, 1]));
        let small = launch(&[], &[], None, [3, 3]).expect("a launch");
        assert_eq!((small.grid, small.block), ([1, 1, 1], [32, 1, 1]));
        assert_eq!(launch(&[], &[], None, [0, 3]).expect("a launch").grid, [0, 1, 1]);
    }

    #[test]
    fn extents_are_numbers_or_expressions_over_the_dimensions() {
        let grid = [text("(cols + 15) // 16"), text("(rows + 15) // 16")];
        let given = launch(&grid, &[Extent::Number(16), Extent::Number(16)], Some(text("8 * cols")), [40, 20]);
        let given = given.expect("a launch");
        assert_eq!((given.grid, given.block, given.shared), ([2, 3, 1], [16, 16, 1], 160));
    }

    #[test]
    fn a_block_alone_is_as_good_as_both_where_it_has_one_dimension() {
        assert_eq!(launch(&[], &[Extent::Number(64)], None, [100, 1]).expect("a launch").grid, [2, 1, 1]);
        assert!(launch(&[], &[Extent::Number(8), Extent::Number(8)], None, [9, 9]).unwrap_err().contains("`grid`"));
    }

    #[test]
    fn what_no_gpu_can_launch_is_refused_with_the_limit() {
        let two_thousand = launch(&[], &[Extent::Number(2048)], None, [9, 9]).unwrap_err();
        assert!(two_thousand.contains("2048 x 1 x 1") && two_thousand.contains("1024"), "{two_thousand}");
        let shared = launch(&[], &[], Some(Extent::Number(1 << 20)), [9, 9]).unwrap_err();
        assert!(shared.contains("1048576 bytes"), "{shared}");
        let unknown = launch(&[text("m")], &[], None, [9, 9]).unwrap_err();
        assert!(unknown.contains("`m`") && unknown.contains("`rows`"), "{unknown}");
        let nonsense = launch(&[text("rows +")], &[], None, [9, 9]).unwrap_err();
        assert!(nonsense.contains("`grid`"), "{nonsense}");
    }
}
