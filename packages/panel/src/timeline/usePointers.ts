import { type PointerEvent, useRef } from "react"
import { axisHeightPx } from "./drawTimeline.ts"

interface Point {
  readonly x: number
  readonly y: number
}

export interface Gestures {
  readonly onPan: (pixels: number) => void
  readonly onPinch: (factor: number, x: number) => void
  /** Called on each movement while the user selects a period. */
  readonly onBrush: (fromX: number, toX: number, y: number) => void
  readonly onClick: (point: Point) => void
  readonly onHover: (point: Point | undefined) => void
}

/** The maximum horizontal distance in pixels that a pointer can move during a click. */
const clickPx = 4

const pointOf = ({ clientX, clientY, currentTarget }: PointerEvent): Point => {
  const { left, top } = currentTarget.getBoundingClientRect()
  return { x: clientX - left, y: clientY - top }
}

/**
 * Handles pointers: dragging pans, dragging along the axis or with Shift selects a period, and two
 * fingers zoom.
 */
export const usePointers = ({ onBrush, onClick, onHover, onPan, onPinch }: Gestures) => {
  const down = useRef(new Map<number, Point>())
  const start = useRef<(Point & { readonly brushes: boolean }) | undefined>(undefined)
  const hasMoved = useRef(false)
  const end = (event: PointerEvent) => {
    const begun = start.current
    if (begun !== undefined && !hasMoved.current && event.type === "pointerup") onClick(begun)
    down.current.delete(event.pointerId)
    if (down.current.size === 0) start.current = undefined
  }
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      const point = pointOf(event)
      event.currentTarget.setPointerCapture(event.pointerId)
      down.current.set(event.pointerId, point)
      start.current = { ...point, brushes: event.shiftKey || point.y < axisHeightPx }
      hasMoved.current = down.current.size > 1
    },
    onPointerMove: (event: PointerEvent) => {
      const point = pointOf(event)
      const before = down.current.get(event.pointerId)
      const begun = start.current
      if (before === undefined || begun === undefined) return onHover(point)
      hasMoved.current ||= Math.abs(point.x - begun.x) > clickPx
      if (!hasMoved.current) return
      const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1]
      if (other !== undefined) {
        const apart = Math.max(1, Math.abs(point.x - other.x))
        onPinch(Math.max(1, Math.abs(before.x - other.x)) / apart, (point.x + other.x) / 2)
      } else if (begun.brushes) {
        onBrush(begun.x, point.x, begun.y)
      } else {
        onPan(point.x - before.x)
      }
      down.current.set(event.pointerId, point)
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: () => onHover(undefined)
  }
}
