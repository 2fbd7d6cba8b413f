//! Bounds of Fortran arrays as dimensions of a signature: `1_8:int(2_4*n+1_4,kind=8)` is `2*n+1` elements.

use super::Extent;
use super::symbols::split_top_level;
use crate::Dim;

/// The number of elements between the bounds, as flang prints them.
pub(super) fn extent(bounds: &str) -> Extent {
    let other = || Extent::Other(bounds.to_owned());
    let parts = split_top_level(bounds, ':');
    let (lower, upper) = match parts.as_slice() {
        [lower, upper] => (lower.as_str(), upper.as_str()),
        _ => return if bounds == ".." { Extent::Open } else { other() },
    };
    if upper.is_empty() || upper == "*" {
        return Extent::Open;
    }
    let count = || {
        let (lower, upper) = (Sum::parse(lower)?, Sum::parse(upper)?);
        upper.plus(&lower, -1).plus(&Sum::constant(1), 1).into_dim()
    };
    count().map_or_else(other, Extent::Known)
}

/// A sum of terms and a number: the form in which lower and upper bounds cancel.
#[derive(Clone, Debug, PartialEq)]
struct Sum {
    /// Terms that are no sums, each with a factor.
    terms: Vec<(i64, Dim)>,
    number: i64,
}

impl Sum {
    fn constant(number: i64) -> Self {
        Sum { terms: Vec::new(), number }
    }

    fn term(dim: Dim) -> Self {
        Sum { terms: vec![(1, dim)], number: 0 }
    }

    fn parse(text: &str) -> Option<Self> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let sum = reader.sum()?;
        reader.skip_blanks();
        (reader.at == reader.text.len()).then_some(sum)
    }

    fn plus(mut self, other: &Sum, factor: i64) -> Self {
        self.number += factor * other.number;
        for (count, dim) in &other.terms {
            match self.terms.iter_mut().find(|(_, d)| d == dim) {
                Some((own, _)) => *own += factor * count,
                None => self.terms.push((factor * count, dim.clone())),
            }
        }
        self.terms.retain(|(count, _)| *count != 0);
        self
    }

    fn times(self, other: Sum) -> Option<Self> {
        let (number, sum) = match (self.terms.is_empty(), other.terms.is_empty()) {
            (true, _) => (self.number, other),
            (_, true) => (other.number, self),
            _ => {
                let product = Dim::Mul(Box::new(self.into_dim()?), Box::new(other.into_dim()?));
                return Some(Sum::term(product));
            }
        };
        let terms = sum.terms.into_iter().map(|(count, dim)| (count * number, dim)).filter(|(c, _)| *c != 0).collect();
        Some(Sum { terms, number: sum.number * number })
    }

    fn over(self, other: Sum) -> Option<Self> {
        // Fortran truncates, a signature rounds down: the same for the counts that bounds are made of.
        Some(Sum::term(Dim::FloorDiv(Box::new(self.into_dim()?), Box::new(other.into_dim()?))))
    }

    /// As a dimension, positive terms first; a number that is negative is no dimension.
    fn into_dim(self) -> Option<Dim> {
        let scaled = |count: i64, dim: Dim| match count {
            1 => dim,
            _ => Dim::Mul(Box::new(Dim::Int(count)), Box::new(dim)),
        };
        let mut whole: Option<Dim> = None;
        let (positive, negative): (Vec<_>, Vec<_>) = self.terms.into_iter().partition(|(count, _)| *count > 0);
        for (count, dim) in positive {
            let term = scaled(count, dim);
            whole = Some(match whole {
                None => term,
                Some(sum) => Dim::Add(Box::new(sum), Box::new(term)),
            });
        }
        if whole.is_none() && self.number >= 0 {
            whole = Some(Dim::Int(self.number));
        } else if self.number > 0 {
            whole = whole.map(|sum| Dim::Add(Box::new(sum), Box::new(Dim::Int(self.number))));
        }
        let mut whole = whole?;
        for (count, dim) in negative {
            whole = Dim::Sub(Box::new(whole), Box::new(scaled(-count, dim)));
        }
        if self.number < 0 {
            whole = Dim::Sub(Box::new(whole), Box::new(Dim::Int(-self.number)));
        }
        Some(whole)
    }
}

/// Reads an expression with the precedence of Fortran.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn skip_blanks(&mut self) {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
    }

    fn take(&mut self, mark: &str) -> bool {
        self.skip_blanks();
        let found = self.text[self.at..].starts_with(mark.as_bytes());
        self.at += if found { mark.len() } else { 0 };
        found
    }

    fn word(&mut self) -> &str {
        self.skip_blanks();
        let start = self.at;
        while self.text.get(self.at).is_some_and(|c| c.is_ascii_alphanumeric() || *c == b'_') {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }

    fn sum(&mut self) -> Option<Sum> {
        let mut sum = match self.take("-") {
            true => Sum::constant(0).plus(&self.product()?, -1),
            false => self.product()?,
        };
        loop {
            if self.take("+") {
                sum = sum.plus(&self.product()?, 1);
            } else if self.take("-") {
                sum = sum.plus(&self.product()?, -1);
            } else {
                return Some(sum);
            }
        }
    }

    fn product(&mut self) -> Option<Sum> {
        let mut product = self.power()?;
        loop {
            if self.take("*") {
                product = product.times(self.power()?)?;
            } else if self.take("/") {
                product = product.over(self.power()?)?;
            } else {
                return Some(product);
            }
        }
    }

    fn power(&mut self) -> Option<Sum> {
        let base = self.factor()?;
        if !self.take("**") {
            return Some(base);
        }
        let exponent = self.factor()?;
        let small = exponent.terms.is_empty() && (1..=4).contains(&exponent.number);
        let mut power = small.then(|| base.clone())?;
        for _ in 1..exponent.number {
            power = power.times(base.clone())?;
        }
        Some(power)
    }

    fn factor(&mut self) -> Option<Sum> {
        if self.take("(") {
            let inner = self.sum()?;
            return self.take(")").then_some(inner);
        }
        let word = self.word().to_owned();
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            // `3_8`: the kind stands behind the number.
            return word.split('_').next()?.parse().ok().map(Sum::constant);
        }
        if word.is_empty() {
            return None;
        }
        if !self.take("(") {
            return Some(Sum::term(Dim::Sym(word)));
        }
        match word.as_str() {
            "int" => {
                let inner = self.sum()?;
                // A conversion to the kind of array indices.
                let kind = self.take(",") && self.take("kind=") && !self.word().is_empty();
                (kind && self.take(")")).then_some(inner)
            }
            "size" => self.size(),
            _ => None,
        }
    }

    /// `size(x,dim=2,kind=8)`: the symbol that stands for that dimension of an assumed-shape array.
    fn size(&mut self) -> Option<Sum> {
        let array = self.word().to_owned();
        let mut dimension = 1;
        while self.take(",") {
            if self.take("dim=") {
                dimension = self.sum().filter(|s| s.terms.is_empty())?.number;
            } else if self.take("kind=") {
                self.word();
            } else {
                return None;
            }
        }
        self.take(")").then(|| Sum::term(Dim::Sym(open_symbol(&array, dimension as usize))))
    }
}

/// The symbol for a dimension (counted from 1) of an array whose declaration leaves it open.
pub fn open_symbol(array: &str, dimension: usize) -> String {
    format!("{array}_{dimension}")
}
