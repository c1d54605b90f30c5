import { type RefCallback, useCallback, useState } from "react"

/** Returns the width of the element that has the ref. 0 before the element is rendered. */
export const useWidth = (): readonly [number, RefCallback<HTMLElement>] => {
  const [width, setWidth] = useState(0)
  const ref = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined
    const measure = () => setWidth(element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // Measure now, because the observer reports the width only after the first frame.
    measure()
    return () => observer.disconnect()
  }, [])
  return [width, ref]
}
