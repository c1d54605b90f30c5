/**
 * A queue in which keys take turns, so that a key with a thousand items delays another key by only
 * one item.
 */
export class RoundRobinQueue<Key, Item> {
  #size = 0
  /** The items by key, in the order of the keys' turns. No list is empty. */
  readonly #items = new Map<Key, Array<Item>>()

  get size(): number {
    return this.#size
  }

  add(key: Key, item: Item): void {
    this.#size++
    const items = this.#items.get(key)
    if (items === undefined) this.#items.set(key, [item])
    else items.push(item)
  }

  /** Takes the next item. */
  next(): Item | undefined {
    const [first] = this.#items
    if (first === undefined) return undefined
    const [key, items] = first
    const item = items.shift()
    this.#size--
    // The key has had its turn and moves to the end.
    this.#items.delete(key)
    if (items.length > 0) this.#items.set(key, items)
    return item
  }

  remove(key: Key, item: Item): void {
    const items = this.#items.get(key)
    const at = items?.indexOf(item) ?? -1
    if (items === undefined || at === -1) return
    items.splice(at, 1)
    this.#size--
    if (items.length === 0) this.#items.delete(key)
  }

  heldBy(key: Key): number {
    return this.#items.get(key)?.length ?? 0
  }

  /** Returns the key with the most items. */
  largest(): { readonly key: Key; readonly items: ReadonlyArray<Item> } | undefined {
    let largest: { readonly key: Key; readonly items: ReadonlyArray<Item> } | undefined
    for (const [key, items] of this.#items) {
      if (largest === undefined || items.length > largest.items.length) largest = { key, items }
    }
    return largest
  }
}
