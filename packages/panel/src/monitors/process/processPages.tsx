import type { ProcessEvent, ProcessMonitor, ProcessMonitorInput } from "@scheduling/sdk"
import { FigureCard, FigureCards } from "../../ui/layout/FigureCard.tsx"
import { EmptyState, type FactsByName, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { type Column, rowTextClass } from "../../ui/lists/List.tsx"
import { Code } from "../../ui/values/Code.tsx"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { formatBytes, formatCount, formatDuration } from "../../ui/values/format.ts"
import { Status } from "../../ui/values/Status.tsx"
import { RelativeTime, ShortTime } from "../../ui/values/Time.tsx"
import { WorkerLink } from "../../workers/WorkerLink.tsx"
import { eventTimeColumn } from "../MonitorEvents.tsx"
import { monitorPages } from "../monitorPages.tsx"
import { matchOf, matchLabels } from "./match.ts"
import {
  newProcessValues,
  ProcessFields,
  processInputOf,
  type ProcessValues,
  processValuesOf
} from "./ProcessFields.tsx"
import { ProcessPreview } from "./ProcessPreview.tsx"

const LastReport = ({ monitor }: { readonly monitor: ProcessMonitor }) => {
  const { last_report: report, max_cpu_percent, max_rss_bytes } = monitor
  if (report === null) {
    return (
      <EmptyState title="No worker has reported yet">
        <Workers monitor={monitor} /> reports as soon as the agent runs.
      </EmptyState>
    )
  }
  if (report.refused !== null) {
    const [, text] = matchOf(monitor)
    return (
      <EmptyState title="The agent does not match this text">
        <p className="mb-4">
          The agent of <WorkerLink workerId={report.worker_id} /> matches only texts that it was
          started with, because a command line may contain secrets. Start the agent with:
        </p>
        <div className="text-left">
          <Code label="flag" text={`--watch-command='${text.replaceAll("'", `'\\''`)}'`} />
        </div>
      </EmptyState>
    )
  }
  const most = (limit: string | undefined) =>
    limit === undefined ? "no limit" : `at most ${limit}`
  return (
    <Section
      title="Latest report"
      actions={
        <span className="text-sm text-faint">
          {monitor.worker_id === null && (
            <>
              of <WorkerLink workerId={report.worker_id} />,{" "}
            </>
          )}
          <RelativeTime at={report.at} />
        </span>
      }
    >
      <FigureCards>
        <FigureCard
          name="Processes"
          value={formatCount(report.count)}
          note={formatCountRule(monitor)}
        />
        <FigureCard
          name="Memory"
          value={formatBytes(report.rss_bytes)}
          note={most(max_rss_bytes === null ? undefined : formatBytes(max_rss_bytes))}
        />
        <FigureCard
          name="CPU"
          value={report.cpu_percent === null ? "–" : `${report.cpu_percent.toFixed(1)}%`}
          note={most(max_cpu_percent === null ? undefined : `${max_cpu_percent}%`)}
        />
        <FigureCard
          name="Process ids"
          value={report.pids.length === 0 ? "–" : report.pids.slice(0, 2).join(", ")}
          note={report.pids.length > 2 ? `and ${report.pids.length - 2} more` : ""}
        />
      </FigureCards>
    </Section>
  )
}

const Workers = ({ monitor: { judge, labels, worker_id } }: { readonly monitor: ProcessMonitor }) =>
  worker_id === null ? (
    <>
      {judge === "each" ? "Each worker" : "All workers together"} with{" "}
      <span className="font-mono">{labels?.join(", ")}</span>
    </>
  ) : (
    <WorkerLink workerId={worker_id} />
  )

const formatCountRule = ({ max_count, min_count }: ProcessMonitor): string =>
  max_count === null
    ? `at least ${min_count}`
    : max_count === min_count
      ? `exactly ${min_count}`
      : `${min_count} to ${max_count}`

const factsOf = (monitor: ProcessMonitor): FactsByName => {
  const [by, match] = matchOf(monitor)
  return {
    [monitor.labels === null ? "Worker" : "Workers"]: <Workers monitor={monitor} />,
    "Matches processes by": (
      <>
        {matchLabels[by].label}
        <span className="block font-mono text-sm break-words">{match}</span>
      </>
    ),
    "Check interval": formatDuration(monitor.interval_seconds * 1_000),
    "Grace period": formatDuration(monitor.grace_seconds * 1_000),
    "Report due": <RelativeTime at={monitor.next_check_at} />,
    Created: <ShortTime at={monitor.created_at} />,
    Id: <CopyableText text={monitor.id} />
  }
}

const columns: ReadonlyArray<Column<ProcessEvent>> = [
  {
    key: "type",
    head: "Event",
    className: "w-24 shrink-0",
    cell: ({ type }) => <Status of={type} />
  },
  eventTimeColumn,
  {
    key: "why",
    head: "Reason",
    className: "grow basis-0",
    belowOnPhone: "plain",
    cell: ({ message }) => (
      <span className={`${rowTextClass} text-soft`} title={message ?? undefined}>
        {message}
      </span>
    )
  }
]

export const processPages = monitorPages<
  ProcessMonitor,
  ProcessEvent,
  ProcessValues,
  ProcessMonitorInput
>({
  kind: "process",
  resource: ({ processMonitors }) => processMonitors,
  form: {
    description:
      "A worker checks the processes on its machine. You are notified when a process stops or uses too much memory or CPU.",
    action: "Create process monitor",
    initial: newProcessValues,
    valuesOf: processValuesOf,
    inputOf: processInputOf,
    Fields: ProcessFields,
    Preview: ProcessPreview
  },
  First: LastReport,
  Aside: ({ monitor }) => <FactsSection title="Monitor" facts={factsOf(monitor)} />,
  events: { title: "Events", empty: "No events yet", columns: () => columns },
  isMonitoredAtOnce: true
})
