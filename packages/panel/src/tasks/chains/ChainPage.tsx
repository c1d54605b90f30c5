import type { Chain, ChainRun } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams, useSearch } from "@tanstack/react-router"
import { useWorkspace } from "../../data/client.ts"
import { useIsLive } from "../../data/live.ts"
import { useList } from "../../data/queries.ts"
import { queueFacts } from "../../queues/QueueLink.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { duration } from "../../ui/values/format.ts"
import { type Column, List, rowLink } from "../../ui/lists/List.tsx"
import { Card, Empty, Facts, Page, Section, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"
import { Status } from "../../ui/values/Status.tsx"
import { callbackFacts } from "../call/callbackValues.ts"
import { firingOptionFacts } from "../schedule/firingOptionFacts.tsx"
import { PausedMark } from "../PausedMark.tsx"
import { Ago, At, None } from "../../ui/values/Time.tsx"
import { inWords } from "../schedule/inWords.ts"
import { ChainActions } from "./ChainActions.tsx"
import { chainOptions, chainRunOptions, chainRunsOptions } from "./queries.ts"
import { StepGraph } from "./StepGraph.tsx"

export const ChainPage = () => {
  const { workspaceId } = useWorkspace()
  const { chainId } = useParams({ from: "/inside/w/$workspaceId/chains/$chainId" })
  const { data: chain, error, refetch } = useQuery(chainOptions(workspaceId, chainId))
  const above = (
    <Link to="/w/$workspaceId/chains" params={{ workspaceId }} className="hover:text-ink">
      Chains
    </Link>
  )
  if (chain === undefined) {
    return (
      <Page title={<Skeleton className="h-7 w-64" />} name="Chain" above={above}>
        {error === null ? <Skeleton className="h-96" /> : <Problem error={error} retry={refetch} />}
      </Page>
    )
  }
  return (
    <Page
      name={chain.name}
      above={above}
      title={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          {chain.name}
          <PausedMark task={chain} />
        </span>
      }
      description={chain.schedule === null ? "Runs by hand" : inWords(chain.schedule)}
      actions={<ChainActions chain={chain} />}
    >
      <ChainView chain={chain} />
    </Page>
  )
}

const ChainView = ({ chain }: { readonly chain: Chain }) => {
  const { workspaceId } = useWorkspace()
  const { run: chosen } = useSearch({ from: "/inside/w/$workspaceId/chains/$chainId" })
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
                ...firingOptionFacts(chain),
                ...queueFacts(chain),
                ...callbackFacts(chain),
                ["Created", <At key="2" at={chain.created_at} />],
                ["Id", <CopyText key="3" text={chain.id} />]
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
        to="/w/$workspaceId/chains/$chainId"
        params={{ workspaceId: chain.workspace_id, chainId: chain.id }}
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
