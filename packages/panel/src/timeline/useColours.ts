import { type RefObject, useEffect, useState } from "react"
import type { Colours } from "./drawTimeline.ts"

/**
 * Each colour's CSS class. A canvas cannot use classes, and the colours depend on the theme, so
 * elements with these classes are rendered to read their colours.
 */
export const colourClasses: Readonly<Record<keyof Colours, string>> = {
  planned: "text-edge",
  succeeded: "text-ok",
  other: "text-faint",
  running: "text-live",
  failed: "text-bad",
  incident: "text-bad",
  notification: "text-warn",
  change: "text-ink",
  ink: "text-ink",
  faint: "text-faint",
  line: "text-line",
  surface: "text-surface",
  sunken: "text-sunken",
  now: "text-live",
  problem: "text-bad",
  hatch: "text-edge"
}

/** Reads the colours from an element's children, and again when the theme changes. */
export const useColours = (probe: RefObject<HTMLElement | null>): Colours | undefined => {
  const [colours, setColours] = useState<Colours>()
  useEffect(() => {
    const read = () => {
      const names = Object.keys(colourClasses)
      const found = [...(probe.current?.children ?? [])].map((child, index) => [
        names[index],
        getComputedStyle(child).color
      ])
      setColours(Object.fromEntries(found) as Colours)
    }
    read()
    const dark = matchMedia("(prefers-color-scheme: dark)")
    dark.addEventListener("change", read)
    return () => dark.removeEventListener("change", read)
  }, [probe])
  return colours
}
