import { useEffect, useState } from "react"

/** What is typed, a moment after the last letter: what asks the service should not ask for each. */
export const useSettled = (text: string): string => {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = window.setTimeout(() => setSettled(text), 150)
    return () => window.clearTimeout(timer)
  }, [text])
  // What was taken out again is not asked for.
  return text === "" ? "" : settled
}
