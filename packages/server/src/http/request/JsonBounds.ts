/**
 * The limits of JSON in a body. No endpoint needs more: the largest body is the notification
 * settings with every allowed rule and channel, which has 5,670 values nested four levels deep.
 */
export const jsonBounds: JsonBounds = { values: 6_000, items: 200, depth: 16 }

/** The limits of a document of definitions, with a thousand records. */
export const definitionsBounds: JsonBounds = { values: 40_000, items: 1_000, depth: 16 }

interface JsonBounds {
  readonly values: number
  readonly items: number
  readonly depth: number
}

const documentPath = /^\/v1\/workspaces\/[^/]+\/apply(?:$|\?)/

/** Returns the limits of JSON in the body of a request to this URL. */
export const jsonBoundsOf = (url: string): JsonBounds =>
  documentPath.test(url) ? definitionsBounds : jsonBounds

/**
 * Returns the limit that a JSON text exceeds, if any. This check runs before the text is parsed:
 * half a megabyte of brackets blocks `JSON.parse` for 40 ms, and the framework takes a second to
 * report every item of an array of that length. Malformed JSON is left to `JSON.parse`, unless it
 * exceeds a limit first.
 */
export const exceededJsonBound = (text: string, bounds = jsonBounds): string | undefined => {
  /**
   * The number of items so far in each open array or object. The number is limited only for arrays.
   */
  const held: Array<number> = []
  let values = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case quote:
        at = endOfString(text, at)
        break
      case openArray:
      case openObject:
        if (depth === bounds.depth) return `must be nested at most ${depth} levels deep`
        held[depth++] = text.charCodeAt(at) === openArray ? 1 : -Infinity
        values++
        break
      case closeArray:
      case closeObject:
        if (depth-- === 0) return undefined
        break
      case comma: {
        const items = (held[depth - 1] ?? 0) + 1
        if (items > bounds.items) {
          return `must have at most ${bounds.items} items in a list`
        }
        held[depth - 1] = items
        values++
      }
    }
    if (values > bounds.values) return `must have at most ${bounds.values} values in all`
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const backslash = 0x5c

/** Returns the index of the closing quote, or the end of the text. */
const endOfString = (text: string, start: number): number => {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((end - before) % 2 === 0) return end
  }
  return text.length
}
