import type { Certificate } from "@scheduling/sdk"
import { CopyableText } from "../../ui/values/Copy.tsx"
import { formatCount } from "../../ui/values/format.ts"
import { Card, Facts, Section } from "../../ui/layout/Page.tsx"
import { Badge, type Tone } from "../../ui/values/Status.tsx"
import { FullTime } from "../../ui/values/Time.tsx"

const toneOfDays = (days: number): Tone => (days < 0 ? "bad" : days <= 14 ? "warn" : "ok")

export const CertificateFacts = ({ certificate }: { readonly certificate: Certificate }) => (
  <Section title="Certificate">
    <Card className="divide-y divide-line">
      <div className="p-5">
        <Facts
          facts={{
            Subject: <Mono text={certificate.subject} />,
            Names: <Mono text={certificate.names.join(", ")} />,
            Issuer: <Mono text={certificate.issuer} />,
            "Valid from": <FullTime at={certificate.valid_from} />,
            "Valid until": (
              <span className="flex flex-wrap items-center gap-2">
                <FullTime at={certificate.valid_to} />
                <Badge tone={toneOfDays(certificate.days_left)}>
                  {certificate.days_left < 0
                    ? "expired"
                    : `${formatCount(certificate.days_left)} days left`}
                </Badge>
              </span>
            ),
            Serial: <Mono text={certificate.serial} />,
            "SHA-256": <CopyableText text={certificate.fingerprint_sha256} />
          }}
        />
      </div>
      {certificate.chain.map((issuer) => (
        <div key={issuer.fingerprint_sha256} className="p-5">
          <Facts
            facts={{
              "Issuer certificate": <Mono text={issuer.subject} />,
              Issuer: <Mono text={issuer.issuer} />,
              "Valid until": <FullTime at={issuer.valid_to} />
            }}
          />
        </div>
      ))}
    </Card>
  </Section>
)

const Mono = ({ text }: { readonly text: string }) => (
  <span className="font-mono text-sm break-words">{text}</span>
)
