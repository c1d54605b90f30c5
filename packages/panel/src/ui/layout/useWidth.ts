import { type RefCallback, useCallback, useState } from "react"

/** The width of the element that gets the ref. It is 0 until that is drawn. */
export const useWidth = (): readonly [number, RefCallback<HTMLElement>] => {
  const [width, setWidth] = useState(0)
  const ref = useCallback((element: HTMLElement | null) => {
    if (element === null) return undefined
    const measure = () => setWidth(element.clientWidth)
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    // Before the first picture, not after it.
    measure()
    return () => observer.disconnect()
  }, [])
  return [width, ref]
}
