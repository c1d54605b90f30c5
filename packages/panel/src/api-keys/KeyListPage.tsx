import type { ApiKey, CreatedApiKey } from "@scheduling/sdk"
import { Link } from "@tanstack/react-router"
import { KeyRound, Plus } from "lucide-react"
import { useState } from "react"
import { ApiExample } from "../data/ApiExample.tsx"
import { useWorkspace } from "../data/client.ts"
import { useList } from "../data/queries.ts"
import { ButtonLink } from "../ui/actions/Button.tsx"
import { type Column, List, menuColumn, rowTitleClass, rowDetailClass } from "../ui/lists/List.tsx"
import { EmptyState, Page } from "../ui/layout/Page.tsx"
import { RelativeTime } from "../ui/values/Time.tsx"
import { KeyMenu } from "./KeyMenu.tsx"
import { KeyStatus } from "./KeyStatus.tsx"
import { keyQueries } from "./queries.ts"
import { describeScopes } from "./scopes.ts"
import { CreatedKeyNotice } from "./CreatedKeyNotice.tsx"
import { RoleGate } from "../ui/role.tsx"

export const KeyListPage = () => {
  const { workspaceId } = useWorkspace()
  const list = useList(keyQueries.list(workspaceId))
  const [rotated, setRotated] = useState<CreatedApiKey>()
  const create = (
    <RoleGate role="admin">
      <ButtonLink
        to="/w/$workspaceId/keys/new"
        params={{ workspaceId }}
        look="main"
        icon={<Plus />}
      >
        New API key
      </ButtonLink>
    </RoleGate>
  )
  return (
    <Page
      title="API keys"
      description="For scripts, CI and integrations. Each key is limited to this workspace and to its scopes."
      actions={create}
    >
      <div className="flex flex-col gap-6">
        {rotated !== undefined && <CreatedKeyNotice created={rotated} />}
        <List
          {...list}
          label="API keys"
          columns={columnsWith(workspaceId, setRotated)}
          empty={
            <EmptyState title="No API keys yet" icon={<KeyRound />} action={create}>
              <p className="mb-6">
                An API key lets a script or a pipeline use the API with the scopes that you choose.
                A revoked key stops working immediately.
              </p>
              <ApiExample
                label="Create an API key"
                path="api-keys"
                method="apiKeys.create"
                input={{
                  name: "CI deploys",
                  scopes: ["tasks:read", "tasks:write"],
                  expires_in_days: 90
                }}
                isForUsers
              />
            </EmptyState>
          }
        />
      </div>
    </Page>
  )
}

const columnsWith = (
  workspaceId: string,
  onRotated: (created: CreatedApiKey) => void
): ReadonlyArray<Column<ApiKey>> => [
  {
    key: "name",
    head: "Name",
    className: "grow basis-0",
    cell: ({ id, key_prefix, name }) => (
      <>
        <Link
          to="/w/$workspaceId/keys/$keyId"
          params={{ workspaceId, keyId: id }}
          className={rowTitleClass}
        >
          {name}
        </Link>
        <span className={`${rowDetailClass} font-mono`}>{key_prefix}…</span>
      </>
    )
  },
  {
    key: "scopes",
    head: "Scopes",
    className: "w-72 shrink-0 max-lg:hidden",
    cell: ({ scopes }) => (
      <span className="line-clamp-2 compact:line-clamp-1 text-soft" title={scopes.join(", ")}>
        {describeScopes(scopes)}
      </span>
    )
  },
  {
    key: "used",
    head: "Last used",
    className: "w-24 shrink-0",
    belowOnPhone: "labelled",
    cell: ({ last_used_at }) =>
      last_used_at === null ? (
        <span className="text-faint">Never</span>
      ) : (
        <RelativeTime at={last_used_at} />
      )
  },
  {
    key: "state",
    head: "Status",
    className: "w-32 shrink-0 lg:w-52",
    belowOnPhone: "plain",
    cell: (apiKey) => <KeyStatus of={apiKey} />
  },
  menuColumn((apiKey) => <KeyMenu apiKey={apiKey} onRotated={onRotated} />)
]
