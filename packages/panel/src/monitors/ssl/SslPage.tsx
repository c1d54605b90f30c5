import type { SslMonitor } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { useParams } from "@tanstack/react-router"
import { Eye } from "lucide-react"
import { useEffect, useState } from "react"
import { useWorkspace } from "../../data/client.ts"
import { queries } from "../../data/queries.ts"
import { Button } from "../../ui/actions/Button.tsx"
import { CopyText } from "../../ui/values/Copy.tsx"
import { duration } from "../../ui/values/format.ts"
import { Loaded } from "../../ui/messages/Loaded.tsx"
import { Card, Facts, Section } from "../../ui/layout/Page.tsx"
import { Badge } from "../../ui/values/Status.tsx"
import { Ago, At, None } from "../../ui/values/Time.tsx"
import { tellProblem } from "../../ui/messages/toast.ts"
import { AboveMonitors, MonitorFrame } from "../MonitorFrame.tsx"
import { MonitorActions } from "../MonitorPages.tsx"
import { sslEventsOptions, sslOptions } from "../queries.ts"
import { useOldestEvent } from "../useOldestEvent.ts"
import { CertificateFacts } from "./CertificateFacts.tsx"
import { SslEvents } from "./SslEvents.tsx"
import { Only } from "../../ui/role.tsx"

export const SslPage = () => {
  const { api, workspaceId } = useWorkspace()
  const { monitorId } = useParams({ from: "/inside/w/$workspaceId/monitors/ssl/$monitorId" })
  /** The look before the one that was asked for. */
  const [lookedAt, setLookedAt] = useState<string | null>()
  const query = useQuery({
    ...sslOptions(workspaceId, monitorId),
    refetchInterval: ({ state: { data } }) =>
      data?.last_check_at === null || data?.last_check_at === lookedAt ? 1_000 : false
  })
  const lastLook = query.data?.last_check_at
  useEffect(() => {
    // The list of looks is asked for seldom, and would contradict what the last one found.
    if (lastLook != null) void queries.invalidateQueries(sslEventsOptions(workspaceId, monitorId))
  }, [lastLook, workspaceId, monitorId])
  const isLooking = lookedAt !== undefined && query.data?.last_check_at === lookedAt
  const oldest = useOldestEvent(sslEventsOptions(workspaceId, monitorId), query.data?.created_at)
  return (
    <Loaded query={query} name="Certificate" above={<AboveMonitors workspaceId={workspaceId} />}>
      {(monitor) => (
        <MonitorFrame
          monitor={monitor}
          oldest={oldest}
          actions={
            <>
              {monitor.status !== "paused" && (
                <Only role="editor">
                  <Button
                    look="main"
                    busy={isLooking}
                    icon={<Eye className="size-4" />}
                    onClick={async () => {
                      setLookedAt(monitor.last_check_at)
                      try {
                        await api.sslMonitors.check(monitorId)
                      } catch (error) {
                        setLookedAt(undefined)
                        tellProblem(error)
                      }
                    }}
                  >
                    Check now
                  </Button>
                </Only>
              )}
              <MonitorActions monitor={{ ...monitor, kind: "ssl" }} />
            </>
          }
          aside={
            <Section title="Monitor">
              <Card className="p-5">
                <Facts facts={factsOf(monitor)} />
              </Card>
            </Section>
          }
          first={
            monitor.certificate !== null && <CertificateFacts certificate={monitor.certificate} />
          }
        >
          <SslEvents monitorId={monitor.id} />
        </MonitorFrame>
      )}
    </Loaded>
  )
}

const factsOf = (monitor: SslMonitor) =>
  [
    [
      "Found",
      monitor.verification === null ? (
        "Not checked yet"
      ) : (
        <>
          <Badge tone={monitor.verification === "ok" ? "ok" : "bad"}>
            {monitor.verification.replaceAll("_", " ")}
          </Badge>
          {monitor.verification_message !== null && (
            <span className="mt-1 block text-sm text-soft">{monitor.verification_message}</span>
          )}
        </>
      )
    ],
    [
      "Server",
      <span key="0" className="font-mono text-sm">
        {monitor.host}:{monitor.port}
      </span>
    ],
    ["Protocol", monitor.protocol],
    ["Server name", monitor.server_name ?? monitor.host],
    ["Last look", monitor.last_check_at === null ? <None /> : <Ago at={monitor.last_check_at} />],
    ["Next look", monitor.next_check_at === null ? <None /> : <Ago at={monitor.next_check_at} />],
    ["Checks every", duration(monitor.check_interval_seconds * 1_000)],
    ["Warns before", `${monitor.warn_days.join(", ")} days`],
    ["Created", <At key="1" at={monitor.created_at} />],
    ["Id", <CopyText key="2" text={monitor.id} />]
  ] as const
