/** Lossless JSON (P4.1): what survives a round trip through text unchanged. `undefined`, NaN, ±Infinity and −0 are not in it. */
export type JsonScalar = null | boolean | number | string;
export type JsonValue = JsonScalar | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = { [key: string]: JsonValue };
