//! Writing.

use serde::{
    Serialize,
    ser::{
        SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple, SerializeTupleStruct,
        SerializeTupleVariant, Serializer,
    },
};

use super::Error;

/// Appends `value` to `bytes`.
pub fn to_vec(value: &impl Serialize, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut writer = Writer { bytes, wrote_byte: false };
    value.serialize(&mut writer)?;
    Ok(writer.bytes)
}

pub struct Writer {
    bytes: Vec<u8>,
    /// Whether the last value was a single byte.
    wrote_byte: bool,
}

impl Writer {
    /// A marker with a length or a number behind it, in the shortest of its forms.
    #[inline(never)]
    fn head(&mut self, number: u64, fixed: Option<(u8, u64)>, markers: [Option<u8>; 4]) {
        self.wrote_byte = false;
        if let Some((marker, limit)) = fixed
            && number < limit
        {
            return self.bytes.push(marker | number as u8);
        }
        let wide = number.to_be_bytes();
        for (marker, size) in markers.into_iter().zip([1, 2, 4, 8]) {
            if let Some(marker) = marker
                && (size == 8 || number >> (8 * size) == 0)
            {
                self.bytes.push(marker);
                return self.bytes.extend_from_slice(&wide[8 - size..]);
            }
        }
    }

    fn array(&mut self, length: usize) {
        self.head(length as u64, Some((0x90, 16)), [None, Some(0xdc), Some(0xdd), None]);
    }

    fn map(&mut self, length: usize) {
        self.head(length as u64, Some((0x80, 16)), [None, Some(0xde), Some(0xdf), None]);
    }

    fn text(&mut self, text: &str) {
        self.head(text.len() as u64, Some((0xa0, 32)), [Some(0xd9), Some(0xda), Some(0xdb), None]);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn binary(&mut self, bytes: &[u8]) {
        self.head(bytes.len() as u64, None, [Some(0xc4), Some(0xc5), Some(0xc6), None]);
        self.bytes.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        self.head(number, Some((0, 128)), [Some(0xcc), Some(0xcd), Some(0xce), Some(0xcf)]);
    }

    fn constant(&mut self, marker: u8) -> Result<(), Error> {
        self.wrote_byte = false;
        self.bytes.push(marker);
        Ok(())
    }

    fn list(&mut self, length: usize) -> List<'_> {
        let start = self.bytes.len();
        self.array(length);
        List { body: self.bytes.len(), start, only_bytes: length > 0, writer: self }
    }
}

/// A sequence on its way: if it turns out to hold nothing but bytes it is written again as a binary string.
pub struct List<'a> {
    writer: &'a mut Writer,
    start: usize,
    body: usize,
    only_bytes: bool,
}

impl List<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut *self.writer)?;
        self.only_bytes &= self.writer.wrote_byte;
        Ok(())
    }

    #[inline(never)]
    fn close(self) -> Result<(), Error> {
        if self.only_bytes {
            let mut raw = Vec::with_capacity(self.writer.bytes.len() - self.body);
            let mut written = self.writer.bytes[self.body..].iter().copied();
            while let Some(byte) = written.next() {
                raw.push(if byte == 0xcc { written.next().unwrap_or_default() } else { byte });
            }
            self.writer.bytes.truncate(self.start);
            self.writer.binary(&raw);
        }
        self.writer.wrote_byte = false;
        Ok(())
    }
}

macro_rules! sequence {
    ($($trait:ident :: $method:ident),*) => {$(
        impl $trait for List<'_> {
            type Ok = ();
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.element(value)
            }
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )*};
}

sequence!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! structure {
    ($($trait:ident),*) => {$(
        impl $trait for &mut Writer {
            type Ok = ();
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.text(key);
                value.serialize(&mut **self)
            }
            fn end(self) -> Result<(), Error> {
                self.wrote_byte = false;
                Ok(())
            }
        }
    )*};
}

structure!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for &mut Writer {
    type Ok = ();
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        key.serialize(&mut **self)
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        value.serialize(&mut **self)
    }
    fn end(self) -> Result<(), Error> {
        self.wrote_byte = false;
        Ok(())
    }
}

macro_rules! refused {
    ($($method:ident($type:ty)),*) => {$(
        fn $method(self, _: $type) -> Result<(), Error> {
            Err(Error)
        }
    )*};
}

impl<'a> Serializer for &'a mut Writer {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = List<'a>;
    type SerializeTuple = List<'a>;
    type SerializeTupleStruct = List<'a>;
    type SerializeTupleVariant = List<'a>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    refused!(serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64));
    refused!(serialize_f32(f32), serialize_f64(f64), serialize_char(char));

    fn is_human_readable(&self) -> bool {
        false
    }
    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.constant(if value { 0xc3 } else { 0xc2 })
    }
    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.number(value.into());
        self.wrote_byte = true;
        Ok(())
    }
    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }
    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.serialize_u64(value.into())
    }
    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.number(value);
        Ok(())
    }
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        self.text(value);
        Ok(())
    }
    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.binary(value);
        Ok(())
    }
    fn serialize_none(self) -> Result<(), Error> {
        self.constant(0xc0)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<(), Error> {
        self.constant(0xc0)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.constant(0xc0)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.text(variant);
        Ok(())
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.map(1);
        self.text(variant);
        value.serialize(&mut *self)?;
        self.wrote_byte = false;
        Ok(())
    }
    fn serialize_seq(self, length: Option<usize>) -> Result<List<'a>, Error> {
        Ok(self.list(length.ok_or(Error)?))
    }
    fn serialize_tuple(self, length: usize) -> Result<List<'a>, Error> {
        Ok(self.list(length))
    }
    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<List<'a>, Error> {
        Ok(self.list(length))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<List<'a>, Error> {
        self.map(1);
        self.text(variant);
        Ok(self.list(length))
    }
    fn serialize_map(self, length: Option<usize>) -> Result<Self, Error> {
        self.map(length.ok_or(Error)?);
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, length: usize) -> Result<Self, Error> {
        self.map(length);
        Ok(self)
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self, Error> {
        self.map(1);
        self.text(variant);
        self.map(length);
        Ok(self)
    }
}
