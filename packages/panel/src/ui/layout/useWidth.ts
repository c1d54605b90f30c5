import { type RefCallback, useCallback, useState } from "react"

/** Returns the width of the element with the ref, and 0 before it is rendered. */
export const useWidth = (): readonly [number, RefCallback<HTMLElement>] => {
  const [width, setWidth] = useState(0)
  const ref = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined
    const measure = () => setWidth(element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // The observer reports only after the first frame.
    measure()
    return () => observer.disconnect()
  }, [])
  return [width, ref]
}
