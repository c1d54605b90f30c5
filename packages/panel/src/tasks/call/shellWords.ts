/** Splits a command as a shell of POSIX does: quotes, backslashes, and lines that go on. */
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
    } else if (letter === '"') {
      const end = endOfDouble(command, at + 1)
      add(command.slice(at + 1, end).replaceAll(/\\([$`"\\\n])/g, "$1"))
      at = end
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word)
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

const endOfDouble = (text: string, from: number): number => {
  for (let at = from; at < text.length; at++) {
    if (text.charAt(at) === "\\") at++
    else if (text.charAt(at) === '"') return at
  }
  return text.length
}
