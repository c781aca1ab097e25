//! What a program has on devices. An array there has content: made again at a restart it would be another one, without a word.
//! Of some types a checkpoint holds the content of what a variable has.

use crate::source::Program;
use ckpt_compiler::library::{Library, Types};
use ckpt_compiler::syntax::mentions::names_in;
use quote::ToTokens;

/// What is found in all files of a program.
#[derive(Debug)]
pub(crate) struct Devices<'l> {
    library: &'l Library,
    /// Whether it uses a crate for devices.
    are_used: bool,
    /// Whether kernels get other arguments once they are made.
    rebinds: bool,
}

impl<'l> Devices<'l> {
    pub(crate) fn of(library: &'l Library, program: &Program) -> Self {
        let mut found = Self {
            library,
            are_used: false,
            rebinds: false,
        };
        for file in &program.files {
            for name in names_in(&file.ast.to_token_stream()) {
                found.are_used |= library.says(&name, Types::DeviceCrates);
                found.rebinds |= library.says(&name, Types::DeviceRebinds);
            }
        }
        found
    }

    /// Whether something of this name, made again, would be another thing than it was.
    pub(crate) fn change(&self, name: &str) -> bool {
        self.are_used && self.is_memory_or_kernel(name)
    }

    /// The same of a type as rustc writes it: `ocl::Buffer<f32>`, also inside of another.
    pub(crate) fn change_type(&self, type_name: &str) -> bool {
        let names = type_name.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let mut names = names.filter(|name| !name.is_empty());
        self.are_used
            && names
                .clone()
                .any(|name| self.library.says(name, Types::DeviceCrates))
            && names.any(|name| self.is_memory_or_kernel(name))
    }

    /// Whether a checkpoint holds the content of a value of this type, as rustc writes it.
    pub(crate) fn are_saved(&self, type_name: &str) -> bool {
        let (path, _) = type_name.split_once('<').unwrap_or((type_name, ""));
        self.are_used && self.library.says(path, Types::DeviceArrays)
    }

    fn is_memory_or_kernel(&self, name: &str) -> bool {
        self.library.says(name, Types::DeviceMemory)
            || self.rebinds && self.library.says(name, Types::DeviceKernels)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_on_devices_are_not_what_they_were_when_they_are_made_again() {
        let library = Library::default();
        let used = Program::of_main("use ocl::Buffer; fn main() {}");
        let devices = Devices::of(&library, &used);
        assert!(devices.change("Buffer") && !devices.change("Kernel") && !devices.change("Context"));
        assert!(devices.change_type("ocl::Buffer<f32>"));
        assert!(devices.change_type("Vec<ocl::Buffer<f32>>"));
        assert!(!devices.change_type("ocl::ProQue") && !devices.change_type("Buffer"));
        assert!(devices.are_saved("ocl::Buffer<f32>") && !devices.are_saved("Vec<ocl::Buffer<f32>>"));
        assert!(!devices.are_saved("ocl::Image<f32>") && !devices.are_saved("Buffer<f32>"));
        let rebound = Program::of_main("use ocl::Kernel; fn main() { kernel.set_arg(0, 1); }");
        assert!(Devices::of(&library, &rebound).change("Kernel"));
        let other = Program::of_main("struct Buffer; fn main() {}");
        assert!(!Devices::of(&library, &other).change("Buffer"));
    }
}
