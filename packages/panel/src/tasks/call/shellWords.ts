/**
 * Splits a command like a POSIX shell, including quotes, backslashes and line continuations. A `;`
 * or `|` becomes a separate word. Strings such as `$'…'` are also supported, because browsers use
 * them when they copy strings that contain quotes.
 */
export const shellWords = (command: string): ReadonlyArray<string> => {
  const words: Array<string> = []
  let word: string | undefined
  const add = (text: string) => (word = (word ?? "") + text)
  for (let at = 0; at < command.length; at++) {
    const letter = command.charAt(at)
    if (letter === "\\") {
      const next = command.charAt(++at)
      if (next === "\r" && command.charAt(at + 1) === "\n") at++
      else if (next !== "\n") add(next)
    } else if (letter === "'") {
      const end = endOf(command, "'", at + 1)
      add(command.slice(at + 1, end))
      at = end
    } else if (letter === "$" && command.charAt(at + 1) === "'") {
      const end = endOfEscaped(command, "'", at + 2)
      add(unescaped(command.slice(at + 2, end)))
      at = end
    } else if (letter === '"') {
      const end = endOfEscaped(command, '"', at + 1)
      add(command.slice(at + 1, end).replaceAll(/\\([$`"\\\n])/g, "$1"))
      at = end
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else if (letter === ";" || letter === "|") {
      if (word !== undefined) words.push(word)
      words.push(letter)
      word = undefined
    } else {
      add(letter)
    }
  }
  return word === undefined ? words : [...words, word]
}

const endOf = (text: string, quote: string, from: number): number => {
  const end = text.indexOf(quote, from)
  return end === -1 ? text.length : end
}

const endOfEscaped = (text: string, quote: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    if (text.charAt(at) === "\\") at++
    else if (text.charAt(at) === quote) return at
  }
  return text.length
}

const escapes: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" }

const unescaped = (text: string) =>
  text.replaceAll(
    /\\(?:u([\da-f]{1,4})|x([\da-f]{1,2})|(.))/gis,
    (_, long: string | undefined, short: string | undefined, letter: string) => {
      const code = long ?? short
      return code === undefined
        ? (escapes[letter] ?? letter)
        : String.fromCharCode(Number.parseInt(code, 16))
    }
  )
