import type { WorkspaceId } from "@scheduling/sdk"
import { queryOptions, useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { clientOf, useWorkspace } from "../../data/client.ts"
import {
  dependencyKey,
  dependencyOfKey,
  type FormDependency,
  resourceOf,
  useDependencyTargets
} from "../../data/targets.ts"
import { notificationsQueryKey } from "../../recipients/queries.ts"
import { RecipientsContent } from "../../recipients/Recipients.tsx"
import { TargetPicker } from "../../ui/forms/TargetPicker.tsx"
import { Card, Section, Skeleton } from "../../ui/layout/Page.tsx"
import { Problem } from "../../ui/messages/Problem.tsx"

/** The query for a task's or monitor's tags and failure callback. */
const subjectOptions = (workspaceId: WorkspaceId, chosen: FormDependency) =>
  queryOptions({
    queryKey: [...notificationsQueryKey(workspaceId), "subject", chosen.id],
    queryFn: async ({ signal }) => {
      const record = await resourceOf(clientOf(workspaceId), chosen.kind).get(chosen.id, { signal })
      return {
        ...chosen,
        tags: record.tags,
        callback: "on_failure" in record ? record.on_failure?.url : undefined
      }
    }
  })

/** Shows who would be notified if the selected task or monitor failed. */
export const RecipientsPreview = () => {
  const [chosen, choose] = useState<FormDependency>()
  const { find, findKey, nameOf } = useDependencyTargets(chosen === undefined ? [] : [chosen])
  return (
    <Section title="Who would be notified">
      <Card className="flex flex-col gap-5 p-5">
        <TargetPicker
          label="Task or monitor"
          placeholder="Search by task or monitor name"
          chosen={chosen === undefined ? [] : [dependencyKey(chosen)]}
          onChange={(keys) => {
            const last = keys.at(-1)
            choose(last === undefined ? undefined : dependencyOfKey(last))
          }}
          nameOf={(key) => nameOf(dependencyOfKey(key))}
          findKey={findKey}
          find={async (name, signal) => {
            const found = await find(name, signal)
            return found.map(({ on, ...one }) => ({ ...one, id: dependencyKey(on) }))
          }}
        />
        {chosen !== undefined && <AnswerFor chosen={chosen} />}
      </Card>
    </Section>
  )
}

const AnswerFor = ({ chosen }: { readonly chosen: FormDependency }) => {
  const { workspaceId } = useWorkspace()
  const { data, error, refetch } = useQuery(subjectOptions(workspaceId, chosen))
  if (error !== null) return <Problem error={error} retry={refetch} />
  return data === undefined ? <Skeleton className="h-24" /> : <RecipientsContent subject={data} />
}
