#include "text/tokenizer/vocab.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace hearth::text {
namespace {

__extension__ using Uint128 = unsigned __int128;

uint64_t mix(uint64_t a, uint64_t b) {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t kK0 = 0xA0761D6478BD642FULL;
constexpr uint64_t kK1 = 0xE7037ED1A0B428DBULL;
constexpr int64_t kDenseFloor = 4096;

}  // namespace

uint64_t hash_bytes(const char* data, size_t size) {
  uint64_t h = kK0 ^ size;
  while (size >= 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, 8);
    h = mix(h ^ word, kK1);
    data += 8;
    size -= 8;
  }
  uint64_t tail = 0;
  if (size > 0) std::memcpy(&tail, data, size);
  return mix(h ^ tail, kK0 ^ (h << 1));
}

void Vocab::reserve(int64_t tokens, int64_t text_bytes) {
  arena_.reserve(static_cast<size_t>(text_bytes));
  entries_.reserve(static_cast<size_t>(tokens));
  rehash(std::bit_ceil(static_cast<size_t>(std::max<int64_t>(tokens, 8)) * 3 / 2));
}

void Vocab::put(const Entry& entry, uint64_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t s = hash & mask;
  while (slots_[s].id >= 0) s = (s + 1) & mask;
  slots_[s] = {static_cast<uint32_t>(hash >> 32), entry.offset, entry.length, entry.id};
}

void Vocab::rehash(size_t slots) {
  slots_.assign(slots, Slot{0, 0, 0, -1});
  for (const Entry& entry : entries_) {
    const std::string_view token = text_of(entry);
    const uint64_t hash = hash_bytes(token);
    if (find_hashed(token, hash) < 0) put(entry, hash);  // else hidden
  }
}

int32_t Vocab::find_hashed(std::string_view token, uint64_t hash) const {
  if (slots_.empty()) return -1;
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  for (size_t s = hash & mask; slots_[s].id >= 0; s = (s + 1) & mask) {
    const Slot& slot = slots_[s];
    if (slot.tag != tag || slot.length != token.size()) continue;
    if (std::memcmp(arena_.data() + slot.offset, token.data(), token.size()) == 0) return slot.id;
  }
  return -1;
}

int64_t Vocab::entry_of(int32_t id) const {
  if (id < 0) return -1;
  if (static_cast<size_t>(id) < dense_.size() && dense_[static_cast<size_t>(id)] != 0) {
    return int64_t{dense_[static_cast<size_t>(id)]} - 1;
  }
  const auto it = sparse_.find(id);
  return it == sparse_.end() ? -1 : int64_t{it->second} - 1;
}

void Vocab::index_id(int32_t id, int64_t entry) {
  const int64_t dense_end = std::max(
      kDenseFloor, 2 * std::max<int64_t>(size(), static_cast<int64_t>(entries_.capacity())));
  if (id >= dense_end) {
    sparse_[id] = static_cast<uint32_t>(entry + 1);
    return;
  }
  if (static_cast<size_t>(id) >= dense_.size()) {
    const size_t wanted = std::max(static_cast<size_t>(id) + 1,
                                   std::min(dense_.size() * 2, static_cast<size_t>(dense_end)));
    dense_.resize(wanted, 0);
  }
  dense_[static_cast<size_t>(id)] = static_cast<uint32_t>(entry + 1);
}

void Vocab::append(std::string_view token, int32_t id) {
  require_data(arena_.size() + token.size() < UINT32_MAX && entries_.size() < UINT32_MAX - 1,
               "vocabulary texts are over 4 GiB together");
  entries_.push_back(
      {static_cast<uint32_t>(arena_.size()), static_cast<uint32_t>(token.size()), id});
  arena_.append(token);
  index_id(id, size() - 1);
  id_end_ = std::max(id_end_, id + 1);
  longest_ = std::max(longest_, static_cast<int64_t>(token.size()));
}

Vocab::Added Vocab::add(std::string_view token, int32_t id) {
  const uint64_t hash = hash_bytes(token);
  const int32_t known = find_hashed(token, hash);
  if (known >= 0) return known == id ? Added::kSame : Added::kTokenTaken;
  if (entry_of(id) >= 0) return Added::kIdTaken;
  append(token, id);
  if (slots_.size() * 2 < entries_.size() * 3) {
    rehash(std::max<size_t>(16, slots_.size() * 2));
  } else {
    put(entries_.back(), hash);
  }
  return Added::kNew;
}

Vocab::Added Vocab::add_hidden(std::string_view token, int32_t id) {
  if (entry_of(id) >= 0) return Added::kIdTaken;
  append(token, id);
  return Added::kNew;
}

std::optional<std::string_view> Vocab::token_of(int32_t id) const {
  const int64_t entry = entry_of(id);
  if (entry < 0) return std::nullopt;
  return text_of(entries_[static_cast<size_t>(entry)]);
}

}  // namespace hearth::text
