//! Reading.

use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
        value::{SeqDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};

use super::Error;

/// Deeper than any of vodozemac's objects; a state that goes deeper is not ours.
const MAX_DEPTH: u32 = 16;

/// Reads one value, which must be all there is.
pub fn from_slice<'de, T: Deserialize<'de>>(bytes: &'de [u8]) -> Result<T, Error> {
    let mut reader = Reader { bytes, depth: 0 };
    let value = T::deserialize(&mut reader)?;
    if reader.bytes.is_empty() { Ok(value) } else { Err(Error) }
}

enum Token<'de> {
    Nil,
    Bool(bool),
    Number(u64),
    Text(&'de str),
    Binary(&'de [u8]),
    Array(usize),
    Map(usize),
}

pub struct Reader<'de> {
    bytes: &'de [u8],
    depth: u32,
}

impl<'de> Reader<'de> {
    fn take(&mut self, length: usize) -> Result<&'de [u8], Error> {
        let (head, tail) = self.bytes.split_at_checked(length).ok_or(Error)?;
        self.bytes = tail;
        Ok(head)
    }

    fn number(&mut self, size: usize) -> Result<u64, Error> {
        Ok(self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn text(&mut self, length: u64) -> Result<Token<'de>, Error> {
        let bytes = self.take(usize::try_from(length).map_err(|_| Error)?)?;
        std::str::from_utf8(bytes).map(Token::Text).map_err(|_| Error)
    }

    fn binary(&mut self, length: u64) -> Result<Token<'de>, Error> {
        Ok(Token::Binary(self.take(usize::try_from(length).map_err(|_| Error)?)?))
    }

    /// The number of elements, which can't be more than the bytes that are left.
    fn count(&mut self, count: u64, each: usize) -> Result<usize, Error> {
        let count = usize::try_from(count).map_err(|_| Error)?;
        if count <= self.bytes.len() / each { Ok(count) } else { Err(Error) }
    }

    #[inline(never)]
    fn token(&mut self) -> Result<Token<'de>, Error> {
        let marker = self.take(1)?[0];
        let size = |first: u8| 1usize << (marker - first);
        Ok(match marker {
            0x00..=0x7f => Token::Number(marker.into()),
            0x80..=0x8f => Token::Map(self.count((marker & 15).into(), 2)?),
            0x90..=0x9f => Token::Array(self.count((marker & 15).into(), 1)?),
            0xa0..=0xbf => self.text((marker & 31).into())?,
            0xc0 => Token::Nil,
            0xc2 | 0xc3 => Token::Bool(marker == 0xc3),
            0xc4..=0xc6 => {
                let length = self.number(size(0xc4))?;
                self.binary(length)?
            }
            0xcc..=0xcf => Token::Number(self.number(size(0xcc))?),
            0xd9..=0xdb => {
                let length = self.number(size(0xd9))?;
                self.text(length)?
            }
            0xdc | 0xdd => {
                let count = self.number(2 * size(0xdc))?;
                Token::Array(self.count(count, 1)?)
            }
            0xde | 0xdf => {
                let count = self.number(2 * size(0xde))?;
                Token::Map(self.count(count, 2)?)
            }
            _ => return Err(Error),
        })
    }

    fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth == MAX_DEPTH {
            return Err(Error);
        }
        self.depth += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Nil => visitor.visit_unit(),
            Token::Bool(value) => visitor.visit_bool(value),
            Token::Number(number) => visitor.visit_u64(number),
            Token::Text(text) => visitor.visit_borrowed_str(text),
            // As a sequence, which byte arrays, byte buffers and serde's own buffer all take.
            Token::Binary(bytes) => visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied())),
            Token::Array(left) => self.nested(|reader| {
                let mut elements = Elements { reader, left };
                let value = visitor.visit_seq(&mut elements)?;
                if elements.left == 0 { Ok(value) } else { Err(Error) }
            }),
            Token::Map(left) => self.nested(|reader| {
                let mut elements = Elements { reader, left };
                let value = visitor.visit_map(&mut elements)?;
                if elements.left == 0 { Ok(value) } else { Err(Error) }
            }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.bytes.first() == Some(&0xc0) {
            self.take(1)?;
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Text(name) => visitor.visit_enum(IntoDeserializer::<Error>::into_deserializer(name)),
            Token::Map(1) => self.nested(|reader| match reader.token()? {
                Token::Text(name) => visitor.visit_enum(Variant { reader, name }),
                _ => Err(Error),
            }),
            _ => Err(Error),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.token()? {
            Token::Binary(bytes) => visitor.visit_borrowed_bytes(bytes),
            _ => Err(Error),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

struct Elements<'a, 'de> {
    reader: &'a mut Reader<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for &mut Elements<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        seed.deserialize(&mut *self.reader)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

struct Variant<'a, 'de> {
    reader: &'a mut Reader<'de>,
    name: &'de str,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Error;
    type Variant = &'a mut Reader<'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant), Error> {
        let name: StrDeserializer<'_, Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.reader))
    }
}

impl<'de> VariantAccess<'de> for &mut Reader<'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(Error)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_any(visitor)
    }
}
