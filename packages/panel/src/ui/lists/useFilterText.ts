import { useState } from "react"

/**
 * Returns the text of a filter's input. The text follows the filter when something else changes it,
 * such as a link or a saved view. `apply` must be called with each value that the input itself gives
 * the filter.
 */
export const useFilterText = (value: string) => {
  const [text, setText] = useState(value)
  const [latest, setLatest] = useState(value)
  const [applied, apply] = useState(value)
  if (value !== latest) {
    setLatest(value)
    if (value !== applied) {
      setText(value)
      apply(value)
    }
  }
  return { text, setText, apply }
}
