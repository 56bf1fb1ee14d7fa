import type { JsonScalar, JsonValue } from './json.ts';

export type JsonSchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'array' | 'object';
/** The raw JSON Schema subset (S1.27). */
export interface JsonSchemaNode {
  type?: JsonSchemaType;
  oneOf?: JsonSchemaNode[];
  properties?: Record<string, JsonSchemaNode>;
  required?: string[];
  additionalProperties?: boolean;
  items?: JsonSchemaNode;
  enum?: JsonScalar[];
  const?: JsonScalar;
  description?: string;
  title?: string;
  default?: JsonValue;
  examples?: JsonValue;
}
