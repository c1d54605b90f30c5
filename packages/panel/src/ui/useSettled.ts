import { useEffect, useState } from "react"

/** The typed text, 150 ms after the last letter, so that not every letter causes a request. */
export const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), 150)
    return () => window.clearTimeout(timer)
  }, [text])
  // An emptied field takes effect at once.
  return text === "" ? "" : settled
}
