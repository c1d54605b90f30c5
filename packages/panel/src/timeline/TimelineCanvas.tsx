import { type KeyboardEvent, useCallback, useEffect, useEffectEvent, useRef, useState } from "react"
import { useWidth } from "../ui/layout/useWidth.ts"
import { now as clockNow, useNow } from "../ui/values/clock.ts"
import {
  axisHeightPx,
  drawTimeline,
  type TimelineFrame,
  labelWidth,
  laneAt,
  laneHeight,
  timeAt
} from "./drawTimeline.ts"
import { describeLane } from "./describeLane.ts"
import type { Lane } from "./lanes.ts"
import { colourClasses, useColours } from "./useColours.ts"
import { usePointers } from "./usePointers.ts"
import { panBy, viewLengthMs, type View, zoomBy } from "./view.ts"

/** A period that the user selected, in one lane or on the axis. */
export interface SelectedPeriod extends View {
  readonly lane: Lane | undefined
}

/** The delay between the last movement and the next fetch. */
const settleMs = 200

const maxHeight = 620

/**
 * Draws all lanes on one canvas. Changes are drawn in the next frame. The page is not rendered
 * again while the view is moving, and `onView` is called when it stops.
 */
export const TimelineCanvas = ({
  brush,
  lanes,
  onBrush,
  onChoose,
  onOpen,
  onView,
  view
}: {
  readonly lanes: ReadonlyArray<Lane>
  readonly view: View
  readonly onView: (view: View) => void
  readonly brush: SelectedPeriod | undefined
  readonly onBrush: (brush: SelectedPeriod | undefined) => void
  readonly onOpen: (lane: Lane) => void
  /** Called with true while a lane is under the pointer or was chosen with the keyboard. */
  readonly onChoose: (isChosen: boolean) => void
}) => {
  const [width, measure] = useWidth()
  const now = useNow()
  const probe = useRef<HTMLDivElement>(null)
  const scroller = useRef<HTMLDivElement>(null)
  const canvas = useRef<HTMLCanvasElement>(null)
  const colours = useColours(probe)
  const [hovered, setHovered] = useState<{ readonly lane: number; readonly at: number }>()
  const choose = (next: typeof hovered) => {
    setHovered(next)
    onChoose(next !== undefined)
  }
  const live = useRef(view)
  const timers = useRef({ frame: 0, settle: 0 })
  const whole = axisHeightPx + lanes.length * laneHeight(width)
  const height = Math.min(maxHeight, whole)

  const frameNow = (): Omit<TimelineFrame, "colours"> => ({
    width,
    height,
    scrollTop: scroller.current?.scrollTop ?? 0,
    view: live.current,
    now,
    lanes,
    current: hovered?.lane,
    brush
  })
  const draw = useEffectEvent(() => {
    const context = canvas.current?.getContext("2d", { alpha: false })
    if (context == null || colours === undefined || width === 0) return
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    drawTimeline(context, { ...frameNow(), colours })
  })
  const redraw = useCallback(() => {
    cancelAnimationFrame(timers.current.frame)
    timers.current.frame = requestAnimationFrame(() => draw())
  }, [])
  useEffect(() => {
    live.current = view
  }, [view])
  useEffect(redraw, [redraw, lanes, view, now, colours, hovered, brush, width, height])
  useEffect(() => {
    const { current } = timers
    return () => {
      cancelAnimationFrame(current.frame)
      clearTimeout(current.settle)
    }
  }, [])

  const move = (next: View) => {
    live.current = next
    redraw()
    clearTimeout(timers.current.settle)
    timers.current.settle = window.setTimeout(() => onView(next), settleMs)
  }
  const zoomAt = (factor: number, x: number) =>
    move(zoomBy(live.current, factor, timeAt(frameNow(), x), clockNow()))
  const panPixels = (pixels: number) =>
    move(panBy(live.current, -pixels / Math.max(1, width - labelWidth(width)), clockNow()))

  const pointers = usePointers({
    onPan: panPixels,
    onPinch: zoomAt,
    onBrush: (fromX, toX, y) => {
      const [from = 0, to = 0] = [fromX, toX]
        .map((x) => timeAt(frameNow(), x))
        .toSorted((one, other) => one - other)
      onBrush({ from, to, lane: lanes[laneAt(frameNow(), y) ?? -1] })
    },
    onClick: ({ x, y }) => {
      const lane = lanes[laneAt(frameNow(), y) ?? -1]
      if (lane !== undefined && x < Math.max(labelWidth(width), 1)) return onOpen(lane)
      const at = timeAt(frameNow(), x)
      // A click selects about 24 pixels, a finger's width.
      const around = (viewLengthMs(live.current) / Math.max(1, width)) * 12
      onBrush(lane === undefined ? undefined : { from: at - around, to: at + around, lane })
    },
    onHover: (point) => {
      const lane = point === undefined ? undefined : laneAt(frameNow(), point.y)
      choose(
        point === undefined || lane === undefined
          ? undefined
          : { lane, at: timeAt(frameNow(), point.x) }
      )
    }
  })
  const onWheel = useEffectEvent((event: WheelEvent) => {
    const isZoom = event.ctrlKey || event.metaKey
    if (!isZoom && Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return
    event.preventDefault()
    if (isZoom) zoomAt(1.0015 ** event.deltaY, event.offsetX)
    else panPixels(-event.deltaX)
  })
  // React registers wheel listeners as passive, which cannot prevent the browser from zooming the
  // page.
  useEffect(() => {
    const { current } = canvas
    const listener = (event: WheelEvent) => onWheel(event)
    current?.addEventListener("wheel", listener, { passive: false })
    return () => current?.removeEventListener("wheel", listener)
  }, [])

  const chooseLane = (step: number) => {
    const lane = Math.min(Math.max((hovered?.lane ?? -1) + step, 0), lanes.length - 1)
    const top = lane * laneHeight(width)
    const room = height - axisHeightPx - laneHeight(width)
    const { current } = scroller
    if (current !== null) {
      current.scrollTop = Math.min(Math.max(current.scrollTop, top - room), top)
    }
    const { from, to } = live.current
    choose({ lane, at: (from + to) / 2 })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { from, to } = live.current
    const middle = (from + to) / 2
    const lane = lanes[hovered?.lane ?? -1]
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: () => move(panBy(live.current, -0.1, clockNow())),
      ArrowRight: () => move(panBy(live.current, 0.1, clockNow())),
      ArrowUp: () => chooseLane(-1),
      ArrowDown: () => chooseLane(1),
      "+": () => move(zoomBy(live.current, 0.7, middle, clockNow())),
      "-": () => move(zoomBy(live.current, 1 / 0.7, middle, clockNow())),
      Enter: () => onBrush({ from, to, lane }),
      Escape: () => onBrush(undefined)
    }
    const action = event.ctrlKey || event.metaKey || event.altKey ? undefined : actions[event.key]
    if (action === undefined) return
    event.preventDefault()
    action()
  }

  const lane = lanes[hovered?.lane ?? -1]
  return (
    <div ref={measure} className="min-w-0">
      <div ref={probe} hidden>
        {Object.entries(colourClasses).map(([name, className]) => (
          <i key={name} className={className} />
        ))}
      </div>
      <div ref={scroller} onScroll={redraw} className="overflow-y-auto" style={{ height }}>
        <canvas
          ref={canvas}
          role="application"
          aria-label="Timeline. Arrow keys move it and choose a lane, plus and minus zoom, Enter selects the period."
          tabIndex={0}
          width={Math.round(width * devicePixelRatio)}
          height={Math.round(height * devicePixelRatio)}
          className="sticky top-0 block touch-pan-y -outline-offset-2"
          style={{ width, height }}
          onKeyDown={onKeyDown}
          onBlur={() => choose(undefined)}
          {...pointers}
        />
        <div style={{ height: whole - height }} />
      </div>
      <p role="status" className="min-h-9 border-t border-line px-4 py-2 text-sm text-soft">
        {lane === undefined || hovered === undefined
          ? "Drag to move. Drag along the times at the top to select a period. Zoom with Ctrl and the wheel, or with two fingers. A name opens its page."
          : describeLane(lane, hovered.at, viewLengthMs(live.current) / Math.max(1, width))}
      </p>
    </div>
  )
}
