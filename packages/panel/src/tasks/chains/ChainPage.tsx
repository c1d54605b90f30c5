import type { Chain, ChainRun } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { useIsLive } from "../../data/live.ts"
import { useList } from "../../data/queries.ts"
import { taskLink } from "../../data/tasks.ts"
import { Recipients } from "../../recipients/Recipients.tsx"
import { EmptyState, FactsSection, Section } from "../../ui/layout/Page.tsx"
import { type Column, List, rowLinkClass } from "../../ui/lists/List.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Status } from "../../ui/values/Status.tsx"
import { ShortTime, Duration, UserZoneHint } from "../../ui/values/Time.tsx"
import { Versions } from "../../versions/Versions.tsx"
import { RepeatingTaskActions } from "../RepeatingTaskActions.tsx"
import { TaskDescription } from "../TaskDescription.tsx"
import { intervalFacts, nextRunOf, recipientsSubject, taskFacts } from "../taskFacts.tsx"
import { SuccessSection } from "../SuccessSection.tsx"
import { TaskPage } from "../TaskPage.tsx"
import { TaskTitle } from "../TaskTitle.tsx"
import { TriggerSection } from "../TriggerSection.tsx"
import { chainKind, chainQueries, chainRunOptions, chainRunsOptions } from "./chainKind.ts"
import { StepGraph } from "./StepGraph.tsx"

export const ChainPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/chains/$taskId" })
  return (
    <TaskPage
      kind="chain"
      options={chainQueries.one(workspaceId, taskId)}
      name={({ name }) => name}
      title={(chain) => (
        <TaskTitle task={chain} resource={api.chains} queryKey={chainQueries.all(workspaceId)} />
      )}
      description={(chain) => <TaskDescription task={chain} />}
      actions={(chain) => <RepeatingTaskActions kind={chainKind} task={chain} />}
      recipients={(chain) => recipientsSubject("chain", chain)}
    >
      {(chain) => <ChainView chain={chain} />}
    </TaskPage>
  )
}

const ChainView = ({ chain }: { readonly chain: Chain }) => {
  const { api, workspaceId } = useWorkspace()
  const { run: chosen } = useSearch({ from: "/inside/w/$workspaceId/chains/$taskId" })
  const isLive = useIsLive()
  const runs = useList(chainRunsOptions(workspaceId, chain.id))
  const runId = chosen ?? runs.rows[0]?.id
  const run = useQuery({
    ...chainRunOptions(workspaceId, chain.id, runId),
    refetchInterval: ({ state }) => (!isLive && state.data?.finished_at === null ? 1_000 : false)
  })
  const hasTiming = chain.schedule !== null || chain.every !== null
  return (
    <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_26rem]">
      <div className="flex min-w-0 flex-col gap-8">
        <Section
          title="Steps"
          actions={
            run.data !== undefined && (
              <span className="text-sm text-faint">
                Run of <ShortTime at={run.data.scheduled_for} />
              </span>
            )
          }
        >
          <Problem error={run.error} />
          <StepGraph chain={chain} run={run.data} />
        </Section>
        <SuccessSection task={chain} resource={api.chains} />
      </div>
      <aside className="flex min-w-0 flex-col gap-8">
        <Section title="Runs">
          <List
            {...runs}
            label="Runs"
            columns={columnsFor(chain, runId)}
            empty={<EmptyState title="No runs yet" />}
          />
        </Section>
        <FactsSection
          title="Chain"
          actions={hasTiming && <UserZoneHint scheduleZone={chain.timezone} />}
          facts={{
            "Next run": hasTiming && nextRunOf(chain),
            ...intervalFacts(chain),
            Schedule: chain.schedule && <code className="font-mono text-sm">{chain.schedule}</code>,
            "Time zone": chain.timezone,
            ...taskFacts(chain)
          }}
        />
        <Recipients subject={recipientsSubject("chain", chain)} />
        <TriggerSection
          taskId={chain.id}
          resource={api.chains}
          queryKey={chainQueries.all(workspaceId)}
        />
        <Versions
          record={chain}
          resource={api.chains}
          queryKey={chainQueries.all(workspaceId)}
          onRestored={() => chainQueries.changed(workspaceId)}
        />
      </aside>
    </div>
  )
}

const columnsFor = (chain: Chain, shownId: string | undefined): ReadonlyArray<Column<ChainRun>> => [
  {
    key: "status",
    head: "Status",
    className: "w-28 shrink-0",
    cell: ({ id, status }) => (
      <Link
        {...taskLink(chain.workspace_id, "chain", chain.id, id)}
        replace
        aria-current={id === shownId ? "true" : undefined}
        className={`${rowLinkClass} ${id === shownId ? "font-medium" : ""}`}
      >
        <Status of={status} />
      </Link>
    )
  },
  {
    key: "due",
    head: "Due",
    className: "grow basis-0",
    cell: ({ scheduled_for }) => <ShortTime at={scheduled_for} />
  },
  {
    key: "duration",
    head: "Duration",
    className: "w-16 shrink-0 text-right",
    cell: ({ finished_at, started_at }) => (
      <Duration
        ms={
          finished_at === null || started_at === null
            ? null
            : Date.parse(finished_at) - Date.parse(started_at)
        }
      />
    )
  }
]
