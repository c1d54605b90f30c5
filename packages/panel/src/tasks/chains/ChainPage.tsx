import type { Chain, ChainRun } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { useIsLive } from "../../data/live.ts"
import { useList } from "../../data/queries.ts"
import { duration } from "../../ui/values/format.ts"
import { type Column, List, rowLink } from "../../ui/lists/List.tsx"
import { Card, Empty, Facts, Section } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Status } from "../../ui/values/Status.tsx"
import { TaskTitle } from "../TaskTitle.tsx"
import { Ago, At, None } from "../../ui/values/Time.tsx"
import { inWords } from "../schedule/inWords.ts"
import { RepeatingActions } from "../repeating.tsx"
import { taskFacts } from "../taskFacts.tsx"
import { TaskPage } from "../TaskPages.tsx"
import { chainKind } from "./chainKind.ts"
import { chainQueries, chainRunOptions, chainRunsOptions } from "./queries.ts"
import { StepGraph } from "./StepGraph.tsx"

export const ChainPage = () => {
  const { workspaceId } = useWorkspace()
  const { taskId } = useParams({ from: "/inside/w/$workspaceId/chains/$taskId" })
  return (
    <TaskPage
      words={chainKind}
      one={chainQueries.one(workspaceId, taskId)}
      name={({ name }) => name}
      title={(chain) => <TaskTitle task={chain} />}
      description={({ schedule }) => (schedule === null ? "Runs by hand" : inWords(schedule))}
      actions={(chain) => <RepeatingActions kind={chainKind} task={chain} />}
    >
      {(chain) => <ChainView chain={chain} />}
    </TaskPage>
  )
}

const ChainView = ({ chain }: { readonly chain: Chain }) => {
  const { workspaceId } = useWorkspace()
  const { run: chosen } = useSearch({ from: "/inside/w/$workspaceId/chains/$taskId" })
  const isLive = useIsLive()
  const runs = useList(chainRunsOptions(workspaceId, chain.id))
  const runId = chosen ?? runs.rows[0]?.id
  const run = useQuery({
    ...chainRunOptions(workspaceId, chain.id, runId),
    refetchInterval: ({ state }) => (!isLive && state.data?.finished_at === null ? 1_000 : false)
  })
  return (
    <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_26rem]">
      <Section
        title="Steps"
        actions={
          run.data !== undefined && (
            <span className="text-sm text-faint">
              Run of <At at={run.data.scheduled_for} />
            </span>
          )
        }
      >
        <Problem error={run.error} />
        <StepGraph chain={chain} run={run.data} />
      </Section>
      <aside className="flex min-w-0 flex-col gap-8">
        <Section title="Runs">
          <List
            {...runs}
            label="Runs"
            columns={columnsFor(chain, runId)}
            keyOf={({ id }) => id}
            empty={<Empty title="It has not run yet" />}
          />
        </Section>
        <Section title="Facts">
          <Card className="p-5">
            <Facts
              facts={[
                [
                  "Next run",
                  chain.next_run_at === null ? (
                    <None key="0" />
                  ) : (
                    <Ago key="0" at={chain.next_run_at} />
                  )
                ],
                [
                  "Schedule",
                  chain.schedule === null ? (
                    <None key="1" />
                  ) : (
                    <code key="1" className="font-mono text-sm">
                      {chain.schedule}
                    </code>
                  )
                ],
                ["Time zone", chain.timezone],
                ...taskFacts(chain)
              ]}
            />
          </Card>
        </Section>
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
        to="/w/$workspaceId/chains/$taskId"
        params={{ workspaceId: chain.workspace_id, taskId: chain.id }}
        search={{ run: id }}
        replace
        aria-current={id === shownId ? "true" : undefined}
        className={`${rowLink} ${id === shownId ? "font-medium" : ""}`}
      >
        <Status of={status} />
      </Link>
    )
  },
  {
    key: "due",
    head: "Due",
    className: "grow basis-0",
    cell: ({ scheduled_for }) => <At at={scheduled_for} />
  },
  {
    key: "took",
    head: "Took",
    className: "w-16 shrink-0 text-right",
    cell: ({ finished_at, started_at }) =>
      finished_at === null || started_at === null ? (
        <None />
      ) : (
        <span className="nums">{duration(Date.parse(finished_at) - Date.parse(started_at))}</span>
      )
  }
]
