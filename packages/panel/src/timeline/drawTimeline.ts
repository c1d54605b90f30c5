import { formatDay, formatExactTimeOfDay, formatTimeOfDay } from "../ui/values/format.ts"
import { firstIndexEndingAfter, type Lane, type MarkKind, markKinds, type Marks } from "./lanes.ts"
import { viewLengthMs, ticksOf, type View } from "./view.ts"

/** The sizes of the timeline's parts. On narrow screens, each lane's name is above its marks. */
export const axisHeightPx = 32
export const minWideWidthPx = 640
export const laneHeight = (width: number): number => (width < minWideWidthPx ? 40 : 28)
export const labelWidth = (width: number): number =>
  width < minWideWidthPx ? 0 : width < 960 ? 208 : 288

export interface Colours extends Readonly<Record<MarkKind, string>> {
  readonly ink: string
  readonly faint: string
  readonly line: string
  readonly surface: string
  readonly sunken: string
  readonly now: string
  readonly problem: string
  readonly hatch: string
}

export interface TimelineFrame {
  readonly width: number
  readonly height: number
  readonly scrollTop: number
  readonly view: View
  readonly now: number
  readonly lanes: ReadonlyArray<Lane>
  readonly colours: Colours
  /** The index of the lane under the pointer, or the lane that was selected with the keyboard. */
  readonly current: number | undefined
  readonly brush: View | undefined
}

/**
 * Draws the visible lanes. All lanes' marks are drawn one colour at a time, because changing the
 * colour is slow.
 */
export const drawTimeline = (context: CanvasRenderingContext2D, frame: TimelineFrame): void => {
  const { colours, height, width } = frame
  context.fillStyle = colours.surface
  context.fillRect(0, 0, width, height)
  const shown = shownLanes(frame)
  drawRows(context, frame, shown)
  context.save()
  context.beginPath()
  context.rect(labelWidth(width), axisHeightPx, width - labelWidth(width), height - axisHeightPx)
  context.clip()
  drawPauses(context, frame, shown)
  for (const kind of markKinds) {
    context.fillStyle = colours[kind]
    for (let index = shown.first; index < shown.end; index++) {
      const marks = frame.lanes[index]?.marks[kind]
      if (marks !== undefined) drawMarks(context, frame, kind, marks, topOf(frame, index))
    }
  }
  drawOverlay(context, frame)
  context.restore()
  drawAxis(context, frame)
}

export const timeAt = (
  { view, width }: Pick<TimelineFrame, "view" | "width">,
  x: number
): number => {
  const left = labelWidth(width)
  return view.from + ((x - left) / Math.max(1, width - left)) * viewLengthMs(view)
}

/**
 * Returns the index of the lane at the vertical position, or undefined if the position is on the
 * axis.
 */
export const laneAt = (
  { lanes, scrollTop, width }: Pick<TimelineFrame, "lanes" | "scrollTop" | "width">,
  y: number
): number | undefined => {
  const index = Math.floor((y - axisHeightPx + scrollTop) / laneHeight(width))
  return y < axisHeightPx || lanes[index] === undefined ? undefined : index
}

const xOf = ({ view, width }: TimelineFrame, at: number) => {
  const left = labelWidth(width)
  return left + ((at - view.from) / viewLengthMs(view)) * (width - left)
}

const topOf = ({ scrollTop, width }: TimelineFrame, index: number) =>
  axisHeightPx + index * laneHeight(width) - scrollTop

const shownLanes = ({ height, lanes, scrollTop, width }: TimelineFrame) => ({
  first: Math.floor(scrollTop / laneHeight(width)),
  end: Math.min(lanes.length, Math.ceil((scrollTop + height - axisHeightPx) / laneHeight(width)))
})

const drawRows = (
  context: CanvasRenderingContext2D,
  frame: TimelineFrame,
  { end, first }: ReturnType<typeof shownLanes>
) => {
  const { colours, current, lanes, width } = frame
  const row = laneHeight(width)
  const isNarrow = labelWidth(width) === 0
  context.textBaseline = "middle"
  context.font = "12px 'Geist Variable', ui-sans-serif, sans-serif"
  for (let index = first; index < end; index++) {
    const lane = lanes[index]
    const top = topOf(frame, index)
    if (index === current) {
      context.fillStyle = colours.sunken
      context.fillRect(0, top, width, row)
    }
    context.fillStyle = colours.line
    context.fillRect(0, top + row - 1, width, 1)
    if (lane === undefined) continue
    const middle = isNarrow ? top + 9 : top + row / 2
    const room = (isNarrow ? width : labelWidth(width)) - 2 * labelMarginPx
    const isFirst = lanes[index - 1]?.group !== lane.group
    const taken = isFirst ? drawGroup(context, colours, lane, room, middle) : 0
    if (lane.hasProblem) {
      context.fillStyle = colours.problem
      drawDot(context, labelMarginPx / 2, middle, 2.5)
    }
    context.fillStyle = lane.pauses.at(-1)?.to === Infinity ? colours.faint : colours.ink
    context.fillText(cut(context, lane.name, room - taken), labelMarginPx, middle)
  }
}

const drawDot = (context: CanvasRenderingContext2D, x: number, y: number, radius: number) => {
  context.beginPath()
  context.arc(x, y, radius, 0, Math.PI * 2)
  context.fill()
}

const labelMarginPx = 12
/** The room that a long name leaves for its group. */
const minGroupPx = 48

/**
 * Draws a group's name as a badge at the right end of its first lane's label, and returns the
 * badge's width. If space is short, the group's name is truncated before the lane's name, because
 * other lanes belong to the group too.
 */
const drawGroup = (
  context: CanvasRenderingContext2D,
  colours: Colours,
  { group, name }: Lane,
  room: number,
  middle: number
): number => {
  const around = 2 * badgePaddingPx
  const left = room - context.measureText(name).width - badgeGapPx - around
  const text = cut(context, group, Math.max(minGroupPx, left))
  const width = context.measureText(text).width + around
  const x = labelMarginPx + room - width
  context.fillStyle = colours.line
  context.beginPath()
  context.roundRect(x, middle - 8, width, 16, 4)
  context.fill()
  context.fillStyle = colours.faint
  context.fillText(text, x + badgePaddingPx, middle)
  return width + badgeGapPx
}

const badgePaddingPx = 6
const badgeGapPx = 8

/** Returns as much of the text as fits into the room, in pixels. */
const cut = (context: CanvasRenderingContext2D, text: string, room: number): string => {
  if (context.measureText(text).width <= room) return text
  const characters = [...text]
  let [fits, tooLong] = [0, characters.length]
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >>> 1
    const shown = `${characters.slice(0, middle).join("")}…`
    if (context.measureText(shown).width <= room) fits = middle
    else tooLong = middle
  }
  return `${characters.slice(0, fits).join("").trimEnd()}…`
}

const drawPauses = (
  context: CanvasRenderingContext2D,
  frame: TimelineFrame,
  { end, first }: ReturnType<typeof shownLanes>
) => {
  const { colours, lanes, view, width } = frame
  const hatch = hatchOf(context, colours.hatch)
  if (hatch === null) return
  context.fillStyle = hatch
  const nameHeight = labelWidth(width) === 0 ? 18 : 0
  for (let index = first; index < end; index++) {
    for (const { from, to } of lanes[index]?.pauses ?? []) {
      if (to <= view.from || from >= view.to) continue
      const x = xOf(frame, Math.max(from, view.from))
      const right = xOf(frame, Math.min(to, view.to))
      const top = topOf(frame, index) + nameHeight
      context.fillRect(x, top, Math.max(2, right - x), laneHeight(width) - 1 - nameHeight)
    }
  }
}

/** The last pattern, which is created again when the theme changes. */
let lastHatch: { readonly colour: string; readonly pattern: CanvasPattern | null } | undefined

/** Returns a pattern of diagonal lines. */
const hatchOf = (context: CanvasRenderingContext2D, colour: string): CanvasPattern | null => {
  if (lastHatch?.colour === colour) return lastHatch.pattern
  const tile = new OffscreenCanvas(hatchPx, hatchPx)
  const lines = tile.getContext("2d")
  if (lines === null) return null
  lines.strokeStyle = colour
  lines.beginPath()
  // The lines through the corners continue that of the next tiles.
  for (const start of [-hatchPx / 2, hatchPx / 2, (3 * hatchPx) / 2]) {
    lines.moveTo(start - hatchPx / 2, hatchPx)
    lines.lineTo(start + hatchPx / 2, 0)
  }
  lines.stroke()
  const pattern = context.createPattern(tile, "repeat")
  lastHatch = { colour, pattern }
  return pattern
}

const hatchPx = 8

const drawMarks = (
  context: CanvasRenderingContext2D,
  frame: TimelineFrame,
  kind: MarkKind,
  marks: Marks,
  top: number
) => {
  const { view, width } = frame
  const isNarrow = labelWidth(width) === 0
  const bottom = top + laneHeight(width) - 4
  const room = isNarrow ? 20 : laneHeight(width) - 8
  for (
    let index = firstIndexEndingAfter(marks, view.from - 1);
    index < marks.from.length;
    index++
  ) {
    const start = marks.from[index] ?? 0
    if (start > view.to) break
    const x = xOf(frame, start)
    if (kind === "change" || kind === "notification") {
      context.fillRect(x - 1.5, bottom - room, 3, room / 2)
      continue
    }
    const end = xOf(frame, marks.to[index] ?? 0)
    if (kind === "incident") {
      context.fillRect(x, bottom - 2, Math.max(2, end - x), 4)
      continue
    }
    const size = Math.min(room, 6 + 2 * Math.log2(marks.count[index] ?? 1))
    context.fillRect(x, bottom - size - 3, Math.max(2, end - x - 1), size)
  }
}

const drawOverlay = (context: CanvasRenderingContext2D, frame: TimelineFrame) => {
  const { brush, colours, height, now } = frame
  if (brush !== undefined) {
    const x = xOf(frame, brush.from)
    context.fillStyle = colours.now
    context.globalAlpha = 0.15
    context.fillRect(x, axisHeightPx, xOf(frame, brush.to) - x, height)
    context.globalAlpha = 1
  }
  context.fillStyle = colours.now
  context.fillRect(Math.round(xOf(frame, now)), axisHeightPx, 1, height)
}

const drawAxis = (context: CanvasRenderingContext2D, frame: TimelineFrame) => {
  const { colours, height, now, view, width } = frame
  const left = labelWidth(width)
  context.fillStyle = colours.surface
  context.fillRect(0, 0, width, axisHeightPx)
  context.fillStyle = colours.line
  context.fillRect(0, axisHeightPx - 1, width, 1)
  const { ticks, unit } = ticksOf(view, width - left)
  const nowX = xOf(frame, now)
  const isNowShown = nowX >= left && nowX <= width
  const nowWidth = context.measureText(nowText).width
  const nowLeft = Math.min(nowX - nowWidth / 2, width - nowWidth - 4)
  for (const at of ticks) {
    const x = Math.round(xOf(frame, at))
    context.fillStyle = colours.line
    context.fillRect(x, axisHeightPx - 6, 1, 6)
    context.globalAlpha = 0.5
    context.fillRect(x, axisHeightPx, 1, height)
    context.globalAlpha = 1
    context.fillStyle = colours.faint
    const isDay = unit === "day" || formatTimeOfDay(at) === "00:00"
    const text = isDay
      ? formatDay(at)
      : unit === "second"
        ? formatExactTimeOfDay(at)
        : formatTimeOfDay(at)
    const isUnderNow =
      isNowShown &&
      x + 4 < nowLeft + nowWidth + 8 &&
      x + 4 + context.measureText(text).width > nowLeft - 8
    if (x + 4 < width - 40 && !isUnderNow) context.fillText(text, x + 4, axisHeightPx / 2)
  }
  if (left > 0) {
    context.fillStyle = colours.faint
    context.fillText("Name", labelMarginPx, axisHeightPx / 2)
    context.textAlign = "right"
    context.fillText("Tag or kind", left - labelMarginPx, axisHeightPx / 2)
    context.textAlign = "left"
  }
  if (!isNowShown) return
  context.fillStyle = colours.now
  context.fillText(nowText, nowLeft, axisHeightPx / 2 - 4)
  drawDot(context, nowX, axisHeightPx - 4, 3.5)
}

const nowText = "Now"
