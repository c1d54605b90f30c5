import type { Certificate, IssuerCertificate } from "@scheduling/sdk"
import { CopyText } from "../../ui/values/Copy.tsx"
import { count } from "../../ui/values/format.ts"
import { Card, Facts, Section } from "../../ui/layout/Page.tsx"
import { Badge, type Tone } from "../../ui/values/Status.tsx"
import { FullAt } from "../../ui/values/Time.tsx"

const toneOfDays = (days: number): Tone => (days < 0 ? "bad" : days <= 14 ? "warn" : "ok")

/** What the server showed. */
export const CertificateFacts = ({ certificate }: { readonly certificate: Certificate }) => (
  <Section title="Certificate">
    <Card className="divide-y divide-line">
      <div className="p-5">
        <Facts
          facts={[
            ["For", <Mono key="0" text={certificate.subject} />],
            ["Names", <Mono key="1" text={certificate.names.join(", ")} />],
            ["By", <Mono key="2" text={certificate.issuer} />],
            ["Valid from", <FullAt key="3" at={certificate.valid_from} />],
            [
              "Valid until",
              <span key="4" className="flex flex-wrap items-center gap-2">
                <FullAt at={certificate.valid_to} />
                <Badge tone={toneOfDays(certificate.days_left)}>
                  {certificate.days_left < 0
                    ? "expired"
                    : `${count(certificate.days_left)} days left`}
                </Badge>
              </span>
            ],
            ["Serial", <Mono key="5" text={certificate.serial} />],
            ["SHA-256", <CopyText key="6" text={certificate.fingerprint_sha256} />]
          ]}
        />
      </div>
      {certificate.chain.map((issuer) => (
        <Issuer key={issuer.fingerprint_sha256} issuer={issuer} />
      ))}
    </Card>
  </Section>
)

const Issuer = ({ issuer }: { readonly issuer: IssuerCertificate }) => (
  <div className="p-5">
    <Facts
      facts={[
        ["Issuer", <Mono key="0" text={issuer.subject} />],
        ["By", <Mono key="1" text={issuer.issuer} />],
        ["Valid until", <FullAt key="2" at={issuer.valid_to} />]
      ]}
    />
  </div>
)

const Mono = ({ text }: { readonly text: string }) => (
  <span className="font-mono text-sm break-words">{text}</span>
)
