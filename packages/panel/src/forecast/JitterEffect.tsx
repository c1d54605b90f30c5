import type { Forecast } from "@scheduling/sdk"
import { Card } from "../ui/layout/Page.tsx"
import { formatCount, formatDuration } from "../ui/values/format.ts"

/** Shows the expected peak of runs per second, for several jitter lengths. */
export const JitterEffect = ({ of }: { readonly of: Forecast["spread"] }) => {
  const most = Math.max(...of.map(({ most_per_second }) => most_per_second), 1)
  return (
    <Card className="px-5 py-4">
      <p className="mb-4 text-sm text-soft">Runs expected in the busiest second.</p>
      <ul className="flex flex-col gap-3">
        {of.map(({ most_per_second, seconds }) => (
          <li key={seconds}>
            <div className="flex items-baseline justify-between gap-4">
              <span>
                {seconds === 0
                  ? "Without jitter"
                  : `Jitter up to ${formatDuration(seconds * 1_000)}`}
              </span>
              <span className="nums">
                {formatCount(most_per_second)} <span className="text-faint">runs</span>
              </span>
            </div>
            <svg
              aria-hidden
              viewBox="0 0 100 1"
              preserveAspectRatio="none"
              className="mt-1.5 block h-1.5 w-full rounded-full bg-sunken"
            >
              <rect
                width={Math.max(1, (most_per_second / most) * 100)}
                height={1}
                className={seconds === 0 ? "fill-warn" : "fill-edge"}
              />
            </svg>
          </li>
        ))}
      </ul>
      <p className="mt-4 text-sm text-soft">
        If your server gets too many calls at once, set a jitter on its tasks. Each run is then
        delayed by a random time.
      </p>
    </Card>
  )
}
