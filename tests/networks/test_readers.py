import gzip

import numpy as np
import pytest
from examples.worlds.road_files import read_edges, read_tntp

import hannan as hn

TNTP = """<NUMBER OF ZONES> 2
<NUMBER OF NODES> 4
<FIRST THRU NODE> 3
<NUMBER OF LINKS> 3
<END OF METADATA>


~ \tInit node \tTerm node \tCapacity \tLength \tFree Flow Time \tB\tPower\tSpeed \tToll \tType\t;
\t1\t3\t9000\t5280\t1.09\t0.15\t4\t4842\t0\t1\t;
\t3\t4\t5400\t1320\t0.5\t0.2\t3.5\t60\t2\t3\t;
\t4\t2\t5400\t1320\t0.75\t0.15\t4\t60\t0\t3\t;
"""

TABLE = """tail,head,free_flow_time,capacity,ue_flow,name
1,2,1.5,900,450.5,"High Street, north"
2,3,0.5,600,10,Lane
"""


@pytest.fixture
def write(tmp_path):
    def to_file(text, name="file.txt"):
        path = tmp_path / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text, encoding="utf-8")
        return path

    return to_file


@pytest.mark.parametrize("name", ["Tiny_net.tntp", "Tiny_net.tntp.gz"])
def test_a_tntp_file_is_read_in_full(write, name):
    roads = read_tntp(str(write(TNTP, name)))
    assert roads.links == [(1, 3), (3, 4), (4, 2)]
    assert roads.zones == {1, 2}
    np.testing.assert_array_equal(roads.capacity, [9000, 5400, 5400])
    np.testing.assert_array_equal(roads.length, [5280, 1320, 1320])
    np.testing.assert_array_equal(roads.free_flow_time, [1.09, 0.5, 0.75])
    np.testing.assert_array_equal(roads.b, [0.15, 0.2, 0.15])
    np.testing.assert_array_equal(roads.power, [4, 3.5, 4])
    np.testing.assert_array_equal(roads.speed, [4842, 60, 60])
    np.testing.assert_array_equal(roads.toll, [0, 2, 0])
    np.testing.assert_array_equal(roads.link_type, [1, 3, 3])
    assert hn.oracles.Paths.towards(roads, 1, 2).objective().leader().nodes == [1, 3, 4, 2]


def test_a_tntp_file_may_lack_metadata_and_the_last_columns(write):
    roads = read_tntp(write("1 2 10 1 1 0.15 4 ;\n2 3 10 1 1 0.15 4 ;\n"))
    assert roads.links == [(1, 2), (2, 3)]
    assert roads.zones == frozenset()
    assert roads.speed is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no links"),
        (TNTP.replace("<NUMBER OF LINKS> 3", "<NUMBER OF LINKS> 4"), "announces 4 .* holds 3"),
        (TNTP.replace("<FIRST THRU NODE> 3", "<FIRST THRU NODE> x"), "FIRST THRU NODE"),
        (TNTP.replace("\t3\t4\t5400", "\t3\tfour\t5400"), "Line 10 is not made of numbers"),
        (TNTP.replace("\t0.2\t3.5\t60\t2\t3\t;", ";"), "Line 10 has 5 columns"),
        (TNTP.replace("\t0.5\t", "\t-0.5\t"), "'free_flow_time'"),
    ],
)
def test_a_bad_tntp_file_is_refused(write, text, message):
    with pytest.raises(hn.ParameterError, match=message):
        read_tntp(write(text))


@pytest.mark.parametrize("name", ["roads.csv", "roads.csv.gz"])
def test_a_table_is_read_by_its_column_names(write, name):
    roads = read_edges(write(TABLE, name), rename={"ue_flow": "flow"}, zones=[1])
    assert roads.links == [(1, 2), (2, 3)]
    np.testing.assert_array_equal(roads.flow, [450.5, 10])
    np.testing.assert_array_equal(roads.capacity, [900, 600])
    np.testing.assert_array_equal(roads.b, [0.15, 0.15])
    assert roads.zones == {1}


def test_times_come_from_length_and_speed_where_they_are_not_given(write):
    roads = read_edges(write("tail,head,length,speed\na,b,60,30\nb,c,10,20\n"))
    np.testing.assert_array_equal(roads.free_flow_time, [2.0, 0.5])
    assert roads.tail == ["a", "b"]
    plain = read_edges(write("tail,head,length\na,1,60\n"))
    np.testing.assert_array_equal(plain.free_flow_time, [60.0])
    assert plain.head == ["1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no column 'tail'"),
        ("from,head,length\n1,2,3\n", "no column 'tail'.*rename"),
        ("tail,head\n1,2\n", "free_flow_time"),
        ("tail,head,length\n1,2\n", "Row 2 .* 2 of 3"),
        ("tail,head,length\n1,2,far\n", "'length'"),
        ("tail,head,length,speed\n1,2,3,0\n", "positive"),
        ("tail,head,length\n", "0 tails"),
    ],
)
def test_a_bad_table_is_refused(write, text, message):
    with pytest.raises(hn.ParameterError, match=message):
        read_edges(write(text))
