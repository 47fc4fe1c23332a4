//! The buffers of a lane: one allocation, one page-aligned part for each slot.

use std::io;
use std::ptr::{NonNull, null_mut};

use likenew_core::io::Slot;
use likenew_core::target_error::TargetError;
use likenew_core::units::amount;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use crate::wording::action;

/// Mappings of up to this many bytes are populated at once, so that no page fault falls into a measurement.
const TOUCHED_BYTES_MAX: usize = 256 << 20;

/// Page-aligned memory for `slots` buffers.
///
/// The kernel knows the address, so no I/O may be in flight when this is dropped.
#[derive(Debug)]
pub(crate) struct Buffers {
    start: NonNull<u8>,
    stride: usize,
    length: usize,
    slots: usize,
    is_leaked: bool,
}

// SAFETY: the memory belongs to this value alone; nothing about it is bound to the thread that mapped it.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps buffers of `length` bytes.
    ///
    /// # Errors
    /// There is not that much memory.
    pub(crate) fn map(slots: u32, length: u32) -> Result<Self, TargetError> {
        let (slots, length) = (slots as usize, length as usize);
        let stride = length.max(1).next_multiple_of(rustix::param::page_size());
        let no_memory = |source: io::Error| {
            let bytes = amount((stride as u64).saturating_mul(slots as u64));
            TargetError::system(action::reserve_buffers(&bytes))(source)
        };
        let bytes = stride
            .checked_mul(slots)
            .filter(|bytes| isize::try_from(*bytes).is_ok() && *bytes > 0)
            .ok_or_else(|| no_memory(io::ErrorKind::OutOfMemory.into()))?;
        let mut flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        flags.set(MapFlags::POPULATE, bytes <= TOUCHED_BYTES_MAX);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice touches no existing memory.
        let start = unsafe { mmap_anonymous(null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let start = start.map_err(|errno| no_memory(errno.into()))?;
        let start = NonNull::new(start.cast()).expect("the kernel maps nothing at address zero");
        Ok(Self { start, stride, length, slots, is_leaked: false })
    }

    /// Bytes of all buffers together.
    pub(crate) fn bytes(&self) -> usize {
        self.stride * self.slots
    }

    /// Where a slot's buffer starts.
    #[inline]
    pub(crate) fn address(&self, slot: Slot) -> *mut u8 {
        assert!(slot.index() < self.slots, "{slot:?} is not one of the lane's {} slots", self.slots);
        // SAFETY: the slot was just checked, so the result is within the mapping.
        unsafe { self.start.as_ptr().add(slot.index() * self.stride) }
    }

    /// A slot's buffer. The caller knows that the slot is not in flight.
    #[inline]
    pub(crate) fn slot_mut(&mut self, slot: Slot) -> &mut [u8] {
        let address = self.address(slot);
        // SAFETY: `length` bytes from there are mapped, initialized (to zero at first) and borrowed through
        // `self`; the lanes hand out buffers only of slots that are not in flight, so nothing else writes to
        // them.
        unsafe { std::slice::from_raw_parts_mut(address, self.length) }
    }

    /// Keeps the memory for good: the kernel may still write to it.
    pub(crate) fn leak(&mut self) {
        self.is_leaked = true;
    }

    /// The buffers in the form that the kernel registers.
    pub(crate) fn vectors(&self) -> Vec<libc::iovec> {
        let vector = |slot: usize| libc::iovec {
            iov_base: self.address(Slot(slot as u32)).cast(),
            iov_len: self.length,
        };
        (0..self.slots).map(vector).collect()
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        if self.is_leaked {
            return;
        }
        // SAFETY: this is the mapping that was made in `map`, unmapped once; no I/O is in flight by the
        // type's contract.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.bytes()) };
        assert!(unmapped.is_ok(), "{unmapped:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_aligned_and_apart() {
        let mut buffers = Buffers::map(3, 5000).unwrap();
        for slot in (0..3).map(Slot) {
            assert!(buffers.address(slot).addr().is_multiple_of(4096));
            buffers.slot_mut(slot).fill(slot.0 as u8 + 1);
        }
        for slot in (0..3).map(Slot) {
            let buffer = buffers.slot_mut(slot);
            assert!(buffer.len() == 5000 && buffer.iter().all(|byte| *byte == slot.0 as u8 + 1));
        }
    }

    #[test]
    fn too_much_memory_is_an_error_in_words() {
        let target_error = Buffers::map(u32::MAX, u32::MAX).err().unwrap().to_string();
        assert!(target_error.contains("memory") && target_error.contains("less depth"), "{target_error}");
    }

    #[test]
    #[should_panic(expected = "not one of")]
    fn a_slot_that_does_not_exist_is_our_mistake() {
        Buffers::map(2, 512).unwrap().slot_mut(Slot(2));
    }
}
