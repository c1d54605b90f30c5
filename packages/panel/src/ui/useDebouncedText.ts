import { useEffect, useState } from "react"

/**
 * Returns the typed text 150 ms after the last keystroke, so that not every keystroke causes a
 * request.
 */
export const useDebouncedText = (text: string): string => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), 150)
    return () => window.clearTimeout(timer)
  }, [text])
  // Do not wait when the field is cleared.
  return text === "" ? "" : settled
}
