import type { CreatedWorker, Worker } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { FactsSection, Page, Section } from "../ui/layout/Page.tsx"
import { Badge, Status } from "../ui/values/Status.tsx"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { AgentCommands } from "./AgentCommands.tsx"
import { pollWorkersMs, workerQueries } from "./queries.ts"
import { CreatedTokenNotice } from "./CreatedTokenNotice.tsx"
import { WorkerMenu } from "./WorkerMenu.tsx"

export const WorkerPage = () => {
  const { workspaceId } = useWorkspace()
  const { workerId } = useParams({ from: "/inside/w/$workspaceId/workers/$workerId" })
  const query = useQuery({
    ...workerQueries.one(workspaceId, workerId),
    refetchInterval: pollWorkersMs
  })
  const above = (
    <ParentPageLink to="/w/$workspaceId/workers" params={{ workspaceId }}>
      Workers
    </ParentPageLink>
  )
  return (
    <LoadedPage query={query} name="Worker" above={above}>
      {(worker) => <OneWorker worker={worker} above={above} />}
    </LoadedPage>
  )
}

const OneWorker = ({ above, worker }: { readonly worker: Worker; readonly above: ReactNode }) => {
  const { workspaceId } = useWorkspace()
  const navigate = useNavigateAfterAction()
  const [created, setCreated] = useState<CreatedWorker>()
  const { host, labels, last_seen_at, name, running, slots, status, version } = worker
  return (
    <Page
      above={above}
      title={name}
      description={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Status of={status} />
          {last_seen_at !== null && <RelativeTime at={last_seen_at} className="text-faint" />}
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
        {created !== undefined && <CreatedTokenNotice created={created} />}
        <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
          <div className="flex min-w-0 flex-col gap-8">
            {status === "never_seen" && <StartAgent />}
            <RunThere labels={labels} />
          </div>
          <FactsSection
            title="Worker"
            facts={{
              Running: slots === null ? running : `${running} of ${slots}`,
              Machine: host,
              "Agent version": version,
              Token: <code className="font-mono text-sm">{worker.token_prefix}…</code>,
              Created: <ShortTime at={worker.created_at} />,
              Changed: <ShortTime at={worker.updated_at} />,
              Id: <CopyableText text={worker.id} />
            }}
          />
        </div>
      </div>
    </Page>
  )
}

const StartAgent = () => (
  <Section title="Waiting for the agent">
    <p className="mb-3 text-soft">
      Start the agent on the machine that should make the calls, with the token that was shown when
      the worker was created.
    </p>
    <AgentCommands token="pwk_…" />
  </Section>
)

const RunThere = ({ labels }: { readonly labels: ReadonlyArray<string> }) => (
  <Section title="Run a task on this worker">
    {labels.length === 0 ? (
      <p className="text-soft">
        Tasks choose their worker by its labels. Edit the worker and give it a label first.
      </p>
    ) : (
      <>
        <p className="mb-3 text-soft">
          Choose “Workers with labels” under “Runs on” in the form of a task, or use the API.
        </p>
        <ApiExample
          label="Run a task on this worker"
          path="cron"
          method="cron.create"
          input={{
            name: "Nightly report",
            schedule: "0 3 * * *",
            url: "http://10.0.0.7/report",
            run_on: { labels: labels.slice(0, 1) }
          }}
        />
      </>
    )}
  </Section>
)
