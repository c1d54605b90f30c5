import type { ApiKey, ApiKeyId, CreatedApiKey } from "@scheduling/sdk"
import { useQuery } from "@tanstack/react-query"
import { Link, useParams } from "@tanstack/react-router"
import { useState } from "react"
import { useWorkspace } from "../data/client.ts"
import { ParentPageLink } from "../ui/layout/ParentPageLink.tsx"
import { CopyableText } from "../ui/values/Copy.tsx"
import { LoadedPage } from "../ui/messages/Loaded.tsx"
import { type FactsByName, FactsSection, Page } from "../ui/layout/Page.tsx"
import { useNavigateAfterAction } from "../ui/useNavigateAfterAction.ts"
import { RelativeTime, ShortTime } from "../ui/values/Time.tsx"
import { KeyMenu } from "./KeyMenu.tsx"
import { KeyStatus } from "./KeyStatus.tsx"
import { KeyUsage } from "./KeyUsage.tsx"
import { keyQueries } from "./queries.ts"
import { describeScopes } from "./scopes.ts"
import { CreatedKeyNotice } from "./CreatedKeyNotice.tsx"

export const KeyPage = () => {
  const { workspaceId } = useWorkspace()
  const { keyId } = useParams({ from: "/inside/w/$workspaceId/keys/$keyId" })
  const navigate = useNavigateAfterAction()
  const [rotated, setRotated] = useState<{
    readonly created: CreatedApiKey
    readonly replaced: ApiKeyId
  }>()
  const above = (
    <ParentPageLink to="/w/$workspaceId/keys" params={{ workspaceId }}>
      API keys
    </ParentPageLink>
  )
  return (
    <LoadedPage query={useQuery(keyQueries.one(workspaceId, keyId))} name="API key" above={above}>
      {(apiKey) => (
        <Page
          title={apiKey.name}
          above={above}
          description={<span className="font-mono text-sm">{apiKey.key_prefix}…</span>}
          actions={
            <KeyMenu
              apiKey={apiKey}
              onRotated={(created) => {
                setRotated({ created, replaced: apiKey.id })
                void navigate({
                  to: "/w/$workspaceId/keys/$keyId",
                  params: { workspaceId, keyId: created.id }
                })
              }}
              onRemoved={() =>
                void navigate({
                  to: "/w/$workspaceId/keys",
                  params: { workspaceId },
                  replace: true
                })
              }
            />
          }
        >
          <div className="grid items-start gap-8 lg:grid-cols-[minmax(0,1fr)_22rem]">
            <div className="flex min-w-0 flex-col gap-8">
              {rotated?.created.id === keyId && (
                <CreatedKeyNotice created={rotated.created}>
                  <Replaced keyId={rotated.replaced} />
                </CreatedKeyNotice>
              )}
              <KeyUsage apiKey={apiKey} />
            </div>
            <FactsSection title="Key" facts={factsOf(apiKey)} />
          </div>
        </Page>
      )}
    </LoadedPage>
  )
}

const Replaced = ({ keyId }: { readonly keyId: ApiKeyId }) => {
  const { workspaceId } = useWorkspace()
  const { data: old } = useQuery(keyQueries.one(workspaceId, keyId))
  if (old === undefined) return null
  return (
    <p className="text-sm text-soft">
      Replaces{" "}
      <Link
        to="/w/$workspaceId/keys/$keyId"
        params={{ workspaceId, keyId }}
        className="font-mono text-live hover:underline"
      >
        {old.key_prefix}…
      </Link>
      {old.is_active ? ", which works" : ", which no longer works"}
      {old.is_active && old.expires_at !== null && (
        <>
          {" "}
          until <ShortTime at={old.expires_at} />
        </>
      )}
      .
    </p>
  )
}

const factsOf = (apiKey: ApiKey): FactsByName => ({
  Status: <KeyStatus of={apiKey} />,
  Scopes: describeScopes(apiKey.scopes),
  "Last used": apiKey.last_used_at === null ? "Never" : <RelativeTime at={apiKey.last_used_at} />,
  Expires: apiKey.expires_at === null ? "Never" : <ShortTime at={apiKey.expires_at} />,
  "Allowed addresses":
    apiKey.allowed_ips === null ? (
      "All"
    ) : (
      <span className="font-mono text-sm">{apiKey.allowed_ips.join(", ")}</span>
    ),
  Created: <ShortTime at={apiKey.created_at} />,
  Id: <CopyableText text={apiKey.id} />
})
