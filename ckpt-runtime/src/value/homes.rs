//! A program that can compute with one library or with another has an option for each: `struct Field { by_opencl: Option<..>, by_vulkan:
//! Option<..> }`. A restart that makes the other one has its content under the name of the first: it goes where there is one to be
//! filled, if it is clear which.

use super::{LoadError, LoadProblem};

/// The fields of one struct or tuple that are not there as they were at the checkpoint.
#[derive(Debug, Default)]
pub struct Homes {
    /// Fields of which the checkpoint holds content, and the program has none.
    without_home: Vec<&'static str>,
    /// The other way round.
    without_content: Vec<&'static str>,
}

impl Homes {
    /// Nothing was filled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How it went with a field: it is filled, or another one may have its content, or be its home.
    ///
    /// # Errors
    /// All others.
    pub fn filled(&mut self, field: &'static str, how: Result<(), LoadError>) -> Result<(), LoadError> {
        match how {
            Err(LoadError {
                path,
                problem: LoadProblem::Moved { is_there },
            }) if path == field => {
                match is_there {
                    true => self.without_content.push(field),
                    false => self.without_home.push(field),
                }
                Ok(())
            }
            other => other,
        }
    }

    /// The field that has the content of this one in the checkpoint.
    ///
    /// # Errors
    /// There is none that could, or several.
    pub fn content_of(&self, field: &'static str) -> Result<Option<&'static str>, LoadError> {
        match (&self.without_content[..], &self.without_home[..]) {
            ([home], [content]) => Ok((*home == field).then_some(*content)),
            ([], []) => Ok(None),
            (homes, _) => {
                let first = homes.first().or(self.without_home.first());
                let problem = LoadProblem::Moved {
                    is_there: !homes.is_empty(),
                };
                Err(LoadError::from(problem).below(first.unwrap_or(&field)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(fields: &[(&'static str, bool)]) -> Homes {
        let mut homes = Homes::new();
        for (field, is_there) in fields {
            let problem = LoadProblem::Moved { is_there: *is_there };
            let how = Err(LoadError::from(problem).below(field));
            homes.filled(field, how).expect("it may be elsewhere");
        }
        homes
    }

    #[test]
    fn one_that_is_gone_is_the_content_of_the_one_that_is_new() {
        let homes = of(&[("cl", false), ("vulkan", true)]);
        assert_eq!(homes.content_of("vulkan"), Ok(Some("cl")));
        assert_eq!(homes.content_of("cl"), Ok(None));
        assert_eq!(Homes::new().content_of("cl"), Ok(None));
    }

    #[test]
    fn what_is_not_clear_is_refused() {
        for fields in [
            &[("a", true)][..],
            &[("a", false)],
            &[("a", true), ("b", false), ("c", true)],
            &[("a", true), ("b", false), ("c", false)],
        ] {
            let error = of(fields).content_of("a").expect_err("not clear");
            assert!(error.to_string().starts_with("at `a`: E2445: "), "{error}");
        }
        let mut homes = Homes::new();
        let within = LoadError::from(LoadProblem::Moved { is_there: true })
            .below("b")
            .below("a");
        assert_eq!(homes.filled("a", Err(within.clone())), Err(within));
    }
}
