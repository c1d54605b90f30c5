import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useNavigate, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { AboveLink } from "../ui/layout/AboveLink.tsx"
import { Snippets } from "../ui/values/Code.tsx"
import { createSnippets } from "../ui/values/createSnippets.ts"
import { CopyText } from "../ui/values/Copy.tsx"
import { Figure, Figures } from "../ui/layout/Figure.tsx"
import { Loaded } from "../ui/messages/Loaded.tsx"
import { Card, Facts, Page, Section } from "../ui/layout/Page.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { Ago, At, None } from "../ui/values/Time.tsx"
import { AgentCommands } from "./AgentCommands.tsx"
import { askForWorkersMs, workerOptions } from "./queries.ts"
import { ShownToken } from "./ShownToken.tsx"
import { WorkerMenu } from "./WorkerMenu.tsx"

export const WorkerPage = () => {
  const { workspaceId } = useWorkspace()
  const { workerId } = useParams({ from: "/inside/w/$workspaceId/workers/$workerId" })
  const query = useQuery({
    ...workerOptions(workspaceId, workerId),
    refetchInterval: askForWorkersMs
  })
  const above = (
    <AboveLink to="/w/$workspaceId/workers" params={{ workspaceId }}>
      Workers
    </AboveLink>
  )
  return (
    <Loaded query={query} name="Worker" above={above}>
      {(worker) => <OneWorker worker={worker} above={above} />}
    </Loaded>
  )
}

const OneWorker = ({
  above,
  worker
}: {
  readonly worker: Worker
  readonly above: React.ReactNode
}) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigate()
  const [created, setCreated] = useState<CreatedWorker>()
  const { host, labels, last_seen_at, name, running, slots, status, version } = worker
  return (
    <Page
      above={above}
      title={name}
      description={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Status of={status} />
          {last_seen_at !== null && <Ago at={last_seen_at} className="text-faint" />}
          {labels.map((label) => (
            <Badge key={label}>{label}</Badge>
          ))}
        </span>
      }
      actions={
        <WorkerMenu
          worker={worker}
          onCreated={setCreated}
          onRemoved={() =>
            void navigate({ to: "/w/$workspaceId/workers", params: { workspaceId }, replace: true })
          }
        />
      }
    >
      <div className="flex flex-col gap-8">
        {created !== undefined && <ShownToken created={created} />}
        <Figures>
          <Figure name="Running now" value={running} />
          <Figure name="Call slots" value={slots ?? "–"} note="reported by the agent" />
          <Figure name="Agent" value={version ?? "–"} note="version" />
          <Figure
            name="Last heard of"
            value={last_seen_at === null ? "Never" : <Ago at={last_seen_at} />}
          />
        </Figures>
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-8">
            {status === "never_seen" && <StartAgent />}
            <RunThere labels={labels} />
          </div>
          <Section title="Worker">
            <Card className="p-5">
              <Facts
                facts={[
                  ["Machine", host ?? <None />],
                  [
                    "Token",
                    <code key="0" className="font-mono text-sm">
                      {worker.token_prefix}…
                    </code>
                  ],
                  ["Created", <At key="1" at={worker.created_at} />],
                  ["Changed", <At key="2" at={worker.updated_at} />],
                  ["Id", <CopyText key="3" text={worker.id} />]
                ]}
              />
            </Card>
          </Section>
        </div>
      </div>
    </Page>
  )
}

const StartAgent = () => (
  <Section title="Waiting for its agent">
    <p className="mb-3 text-soft">
      Start it where the calls should be made from, with the token that was shown when the worker
      was created.
    </p>
    <AgentCommands token="pwk_…" />
  </Section>
)

/** How a task comes to be run by it. */
const RunThere = ({ labels }: { readonly labels: ReadonlyArray<string> }) => {
  const { workspaceId } = useWorkspace()
  const url = `${location.origin}/v1/workspaces/${workspaceId}/cron`
  return (
    <Section title="Run a task on it">
      {labels.length === 0 ? (
        <p className="text-soft">
          Edit the worker and give it a label first: tasks name the labels of their worker.
        </p>
      ) : (
        <>
          <p className="mb-3 text-soft">
            Choose “Workers with labels” under “Runs on” in the form of a task, or use the API.
          </p>
          <Snippets
            label="Run a task on it"
            snippets={createSnippets(url, "cron.create", {
              name: "Nightly report",
              schedule: "0 3 * * *",
              url: "http://10.0.0.7/report",
              run_on: { labels: labels.slice(0, 1) }
            })}
          />
        </>
      )}
    </Section>
  )
}
