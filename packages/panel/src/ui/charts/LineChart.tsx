import { Chart, type ChartColumn, TimeAxis } from "./Chart.tsx"

export interface LineColumn extends ChartColumn {
  /** The value of the black line. Null if nothing was measured. */
  readonly main: number | null
  /** The value of the grey line. */
  readonly other: number | null
  /** True if the column has a red background. */
  readonly hasProblem?: boolean
}

/** The space above and below the lines, as a part of the height. */
const margin = 0.04

/** Two lines over time, up to now. The vertical axis begins at zero. */
export const LineChart = ({
  className,
  columns,
  isSmall = false,
  label,
  text,
  top
}: {
  readonly label: string
  readonly columns: ReadonlyArray<LineColumn>
  readonly top: number
  readonly text: (value: number) => string
  /** The class for the height of the plot. */
  readonly className: string
  readonly isSmall?: boolean
}) => {
  const yOf = (value: number) => 1 - margin - (value / top) * (1 - 2 * margin)
  const line = (which: "main" | "other") =>
    columns
      .map((column, index) => {
        const value = column[which]
        if (value === null) return ""
        const isFirst = index === 0 || columns[index - 1]?.[which] == null
        return `${isFirst ? "M" : "L"}${index},${yOf(value).toFixed(3)}h1`
      })
      .join("")
  return (
    <Chart
      label={label}
      columns={columns}
      top={text(top)}
      bottom={text(0)}
      axis={<TimeAxis columns={columns} isSmall={isSmall} />}
      className={className}
    >
      <svg
        viewBox={`0 0 ${Math.max(1, columns.length)} 1`}
        preserveAspectRatio="none"
        className="block size-full"
      >
        {columns.map(
          ({ hasProblem = false, start }, index) =>
            hasProblem && (
              <rect key={start} x={index} width={1} height={1} className="fill-bad/25" />
            )
        )}
        <Line path={line("other")} className="stroke-faint/60" />
        <Line path={line("main")} className="stroke-ink" />
      </svg>
    </Chart>
  )
}

const Line = ({ className, path }: { readonly path: string; readonly className: string }) => (
  <path
    d={path}
    fill="none"
    vectorEffect="non-scaling-stroke"
    strokeWidth={2}
    className={className}
  />
)
